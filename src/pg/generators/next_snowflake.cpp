// New Snowflake IDs in SQL, from the database's default generator and from those that users create.
#include "core/snowflake_generator.hpp"

#include "pg/generators/draw.hpp"
#include "pg/generators/generator_cache.hpp"
#include "pg/generators/regressions.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/settings.hpp"
#include "pg/types/snowflake_layout_type.hpp"

extern "C" {
#include "funcapi.h"
}

using namespace snowdrift;

namespace {

/// This session's view of a generator; of the database's default one, until it is defined.
class SessionGenerator {
 public:
    using Id = int64_t;
    static constexpr GeneratorKind kind = GeneratorKind::snowflake;

    void define(const Definition& definition, const char* name) {
        slot_.detach();
        key_ = definition.slot_key();
        is_uncommitted_ = definition.is_uncommitted;
        name_ = name;
        own_node_ = definition.node();
        core_ = SnowflakeGenerator{definition.layout, own_node_.value_or(0),
                                   definition.sequence_min, definition.sequence_max};
        node_ = -1;
    }

    bool is_prepared() const { return slot_.is_attached() && node_ == settings::node; }

    /// Take on the settings as they are now.
    void prepare() {
        const SnowflakeLayout& layout = core_.layout();
        core_ = core_.at_node(own_node_ ? *own_node_ : servers_node(layout));
        slot_.attach(key_.value_or(slots::SlotKey{MyDatabaseId, slots::Kind::snowflake}),
                     is_uncommitted_, [this](slots::Slot& slot, int64_t unix_ms) {
                         regressions::move_past(slot, core_, unix_ms);
                     });
        node_ = settings::node;
    }

    bool try_next(int64_t unix_ms, Id& id) {
        if (unlikely(regressions::is_ahead(*slot_))) return false;  // ask() keeps watch
        return core_.try_next(slot_->words[0], unix_ms, id);
    }

    SnowflakeGenerator::Answer ask(Request& request) {
        const int64_t now = clock::now_ms();
        const auto answer = core_.next(slot_->words[0], now, settings::max_clock_lead, request);
        if (likely(answer.verdict == Verdict::issued))
            regressions::watch(*slot_, core_, answer.ms, now);
        else if (answer.verdict == Verdict::leads || answer.verdict == Verdict::refused)
            regressions::note(*slot_, core_, core_.unix_ms_of(slot_->words[0]));
        return answer;
    }

    slots::Slot& slot() const { return *slot_; }
    overflow::Name name() const { return {name_, core_.capacity(), 1}; }

 private:
    /// The server's number, as far as the layout has room for one.
    static uint32_t servers_node(const SnowflakeLayout& layout) {
        if (layout.node_bits() == 0) return 0;
        const auto max_node = static_cast<int>(layout.max_node());
        if (settings::node > max_node)
            ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                            errmsg("snowdrift.node %d is out of range 0 .. %d for this layout",
                                   settings::node, max_node),
                            errdetail("The layout has %d datacenter bits and %d worker bits.",
                                      layout.datacenter_bits, layout.worker_bits)));
        return static_cast<uint32>(settings::node);
    }

    std::optional<slots::SlotKey> key_;  // of a generator that a user created
    bool is_uncommitted_ = false;
    SessionSlot slot_;
    int node_ = -1;  // snowdrift.node, as core_ took it on
    SnowflakeGenerator core_{default_layout, 0};
    std::optional<uint32_t> own_node_;
    const char* name_ = "snowflake";
};

SessionGenerator default_generator;
NamedSessions<SessionGenerator> named_generators;

/// Return n new IDs, one at a call.
Datum next_many(FunctionCallInfo fcinfo, SessionGenerator& generator) {
    FuncCallContext* const call = SRF_PERCALL_SETUP();
    if (call->call_cntr < call->max_calls)
        SRF_RETURN_NEXT(call, Int64GetDatum(draw_at_once(generator)));
    SRF_RETURN_DONE(call);
}

void begin_many(FunctionCallInfo fcinfo) {
    if (!SRF_IS_FIRSTCALL()) return;
    const int32 n = PG_GETARG_INT32(0);
    if (n < 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("number of IDs must not be negative: %d", n)));
    FuncCallContext* const call = SRF_FIRSTCALL_INIT();
    call->max_calls = static_cast<uint64>(n);
}

}  // namespace

/// next_snowflake() → bigint
SNOWDRIFT_FUNCTION(next_snowflake) { PG_RETURN_INT64(draw_at_once(default_generator)); }

/// next_snowflake(generator text) → bigint
SNOWDRIFT_FUNCTION(next_snowflake_of) {
    PG_RETURN_INT64(draw_at_once(named_generators.find(PG_GETARG_TEXT_PP(0))));
}

/// next_snowflakes(n int) → setof bigint
SNOWDRIFT_FUNCTION(next_snowflakes) {
    begin_many(fcinfo);
    return next_many(fcinfo, default_generator);
}

/// next_snowflakes(n int, generator text) → setof bigint
SNOWDRIFT_FUNCTION(next_snowflakes_of) {
    begin_many(fcinfo);
    return next_many(fcinfo, named_generators.find(PG_GETARG_TEXT_PP(1)));
}
