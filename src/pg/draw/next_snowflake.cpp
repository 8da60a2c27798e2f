// The SQL functions that generate Snowflake IDs: next_snowflake() and next_snowflakes(), from the
// database's default generator or from a named one.
#include "pg/draw/draw.hpp"
#include "pg/draw/hold_snowflake.hpp"
#include "pg/draw/node_handle.hpp"
#include "pg/named/generator_cache.hpp"
#include "pg/slots/regressions.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/settings.hpp"
#include "pg/types/snowflake_layout_type.hpp"
#include "protocol/generators.hpp"

extern "C" {
#include "access/xlog.h"
#include "funcapi.h"
#include "utils/builtins.h"
}

using namespace snowdrift;

namespace {

class SnowflakeHandle : public NodeHandle {
 public:
    using Id = int64_t;
    static constexpr slots::Kind kind = slots::Kind::snowflake;

    constexpr SnowflakeHandle() : NodeHandle{kind} {}

    void prepare() { core_ = definition_.snowflake_generator(attach()); }

    bool try_next(int64_t unix_ms, Id& id) {
        if (unlikely(regressions::is_ahead(state()))) return false;  // ask() records regressions
        return core_.try_next(state().word, unix_ms, id);
    }

    Answer<Id> ask(Request& request) {
        if (unlikely(request.has_found_used_up())) regressions::expect_lead(state());
        const int64_t now = clock::now_ms();
        const auto answer = core_.next(state().word, now, settings::max_clock_lead, request);
        if (likely(answer.verdict == Verdict::issued)) {
            if (unlikely(answer.ms > now || regressions::is_ahead(state())))
                regressions::record(state(), core_, answer.ms);
        } else if (answer.verdict == Verdict::clock_behind || answer.verdict == Verdict::refused) {
            regressions::record(state(), core_, core_.unix_ms_of(state().word));
        } else if (answer.verdict == Verdict::out_of_range) {
            report_not_present(layout(), now, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE);
        }
        return answer;
    }

    int64_t begin_unit() { return core_.begin_unit(state().word, clock::now_ms()); }

    int64_t earliest_unix_ms() const { return layout().epoch_unix_ms; }

    int64_t truncate(int64_t unix_ms) const { return layout().truncate(unix_ms); }

    /// See hold_snowflake.hpp. A number that is not an ID is before all times, or at the last one.
    std::optional<TimestampTz> hold_row(Id id) {
        const bool is_valid = layout().contains_id(id);
        const int64_t unix_ms = is_valid ? unix_ms_of(layout().split(id).time)
                                : id < 0 ? layout().epoch_unix_ms - 1
                                         : layout().max_unix_ms();
        return watermark::check_row(*this, unix_ms);
    }

    /// The watermark for the statement that calls the SQL function. Raises 55000 if the layout has
    /// not begun: its first time, which would be the watermark, can be far ahead of the clock, and
    /// so would be the mark.
    Id watermark() {
        if (const int64_t now = clock::now_ms(); now < layout().epoch_unix_ms)
            report_not_present(layout(), now, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE);
        const int64_t unix_ms = watermark::read_for_statement(*this);
        const bool has_negative = unix_ms < layout().epoch_unix_ms;  // a row whose number is no ID
        return has_negative ? PG_INT64_MIN : layout().boundary(time_of(unix_ms));
    }

    Label label() const { return {name_, core_.capacity(), layout().unit_ms}; }

 private:
    slots::SnowflakeState& state() const { return slot_->snowflake; }

    SnowflakeGenerator core_{default_layout, 0};
};

SnowflakeHandle default_snowflakes;
GeneratorCache<SnowflakeHandle> named_snowflakes;

/// Prepare a set-returning function that returns n IDs; n is argument 0. Raises 22023 if n is
/// negative.
void begin_set(FunctionCallInfo fcinfo) {
    if (!SRF_IS_FIRSTCALL()) return;
    const int32 n = PG_GETARG_INT32(0);
    if (n < 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("number of IDs must not be negative: %d", n)));
    FuncCallContext* const call = SRF_FIRSTCALL_INIT();
    call->max_calls = static_cast<uint64>(n);
}

/// Return the next ID of the set.
Datum next_of_set(FunctionCallInfo fcinfo, SnowflakeHandle& generator) {
    FuncCallContext* const call = SRF_PERCALL_SETUP();
    if (call->call_cntr < call->max_calls)
        SRF_RETURN_NEXT(call, Int64GetDatum(draw_fast(generator)));
    SRF_RETURN_DONE(call);
}

}  // namespace

namespace snowdrift {

std::optional<TimestampTz> hold_snowflake(const char* generator, int64_t id) {
    if (generator == nullptr) return default_snowflakes.hold_row(id);
    return named_snowflakes.get(cstring_to_text(generator)).hold_row(id);
}

}  // namespace snowdrift

/// next_snowflake() → bigint
SNOWDRIFT_FUNCTION(next_snowflake) { PG_RETURN_INT64(draw_fast(default_snowflakes)); }

/// next_snowflake(generator text) → bigint
SNOWDRIFT_FUNCTION(next_snowflake_of) {
    PG_RETURN_INT64(draw_fast(named_snowflakes.get(PG_GETARG_TEXT_PP(0))));
}

/// next_snowflakes(n int) → setof bigint
SNOWDRIFT_FUNCTION(next_snowflakes) {
    begin_set(fcinfo);
    return next_of_set(fcinfo, default_snowflakes);
}

/// next_snowflakes(n int, generator text) → setof bigint
SNOWDRIFT_FUNCTION(next_snowflakes_of) {
    begin_set(fcinfo);
    return next_of_set(fcinfo, named_snowflakes.get(PG_GETARG_TEXT_PP(1)));
}

/// snowflake_watermark() → bigint
SNOWDRIFT_FUNCTION(snowflake_watermark) {
    if (RecoveryInProgress()) return watermark::read_published(fcinfo, slots::Kind::snowflake, "");
    PG_RETURN_INT64(default_snowflakes.watermark());
}

/// snowflake_watermark(generator text) → bigint
SNOWDRIFT_FUNCTION(snowflake_watermark_of) {
    text* const generator = PG_GETARG_TEXT_PP(0);
    if (RecoveryInProgress())
        return watermark::read_published(fcinfo, slots::Kind::snowflake,
                                         text_to_cstring(generator));
    PG_RETURN_INT64(named_snowflakes.get(generator).watermark());
}
