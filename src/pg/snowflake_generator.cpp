// Generating Snowflake IDs in SQL.
#include "core/snowflake_generator.hpp"

#include "pg/clock.hpp"
#include "pg/draw.hpp"
#include "pg/postgres.hpp"
#include "pg/settings.hpp"
#include "pg/snowflake_layout.hpp"

extern "C" {
#include "funcapi.h"
}

using namespace snowdrift;

namespace {

/// This session's view of the database's default generator.
class SessionGenerator {
 public:
    bool is_prepared() const { return slot_.is_attached() && node_ == settings::node; }

    /// Take on the settings as they are now.
    void prepare() {
        const auto max_node = static_cast<int>(default_layout.max_node());
        if (settings::node > max_node)
            ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                            errmsg("snowdrift.node %d is out of range 0 .. %d for this layout",
                                   settings::node, max_node),
                            errdetail("The layout has %d datacenter bits and %d worker bits.",
                                      default_layout.datacenter_bits, default_layout.worker_bits)));
        core_ = SnowflakeGenerator{default_layout, static_cast<uint32>(settings::node)};
        slot_.attach(slots::default_snowflake, [](slots::Slot& slot, int64_t unix_ms) {
            SnowflakeGenerator{default_layout, 0}.move_past(slot.words[0], unix_ms);
        });
        node_ = settings::node;
    }

    SnowflakeGenerator::Answer ask(Request& request) {
        return core_.next(slot_->words[0], clock::now_ms(), settings::max_clock_lead, request);
    }

    slots::Slot& slot() const { return *slot_; }
    overflow::Name name() const { return {"snowflake", default_layout.max_sequence() + 1, 1}; }

 private:
    SessionSlot slot_;
    int node_ = 0;
    SnowflakeGenerator core_{default_layout, 0};
};

int64 next_id() {
    static SessionGenerator generator;
    return draw(generator);
}

}  // namespace

/// next_snowflake() → bigint
SNOWDRIFT_FUNCTION(next_snowflake) { PG_RETURN_INT64(next_id()); }

/// next_snowflakes(n int) → setof bigint
SNOWDRIFT_FUNCTION(next_snowflakes) {
    if (SRF_IS_FIRSTCALL()) {
        const int32 n = PG_GETARG_INT32(0);
        if (n < 0)
            ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                            errmsg("number of IDs must not be negative: %d", n)));
        FuncCallContext* const call = SRF_FIRSTCALL_INIT();
        call->max_calls = static_cast<uint64>(n);
    }
    FuncCallContext* const call = SRF_PERCALL_SETUP();
    if (call->call_cntr < call->max_calls) SRF_RETURN_NEXT(call, Int64GetDatum(next_id()));
    SRF_RETURN_DONE(call);
}
