// The SQL function snowflake_at(): Snowflake IDs of past times, from the database's default
// generator or from a named one. used_numbers.hpp has the numbers that they use.
#include <algorithm>

#include "pg/backfill/used_numbers.hpp"
#include "pg/draw/node_handle.hpp"
#include "pg/mark/mark.hpp"
#include "pg/named/generator_cache.hpp"
#include "pg/support/checks.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/time.hpp"
#include "pg/types/snowflake_layout_type.hpp"

extern "C" {
#include "tcop/utility.h"
}

using namespace snowdrift;

namespace {

/// A session's view of a Snowflake generator, for times before its origin.
class BackfillHandle : public NodeHandle {
 public:
    static constexpr slots::Kind kind = slots::Kind::snowflake;

    constexpr BackfillHandle() : NodeHandle{kind} {}

    int64_t at(TimestampTz time) {
        PreventCommandIfReadOnly("snowflake_at()");
        PreventCommandIfParallelMode("snowflake_at()");
        for (;;) {
            const int64_t id = try_at(time);
            // After a reset of the clock, the origin may be earlier. Discard the ID.
            if (mark::is_current(slot_.tag())) return id;
        }
    }

 private:
    int64_t try_at(TimestampTz time) {
        if (!is_prepared() || !mark::is_current(slot_.tag())) {
            core_ = definition_.snowflake_generator(attach());
            transaction_ = InvalidLocalTransactionId;
        }
        if (transaction_ != current_transaction()) read_pool();
        const int64_t unix_ms =
            check_time(times_of(layout()), time, layout().truncate(timestamp_floor_ms(time)));
        const uint64_t unit = layout().units_at(unix_ms);
        if (unit >= pool_.end_unit) report_too_late(time);
        const auto place = backfill::take(pool_, unit);
        if (!place) report_used_up(time);
        return core_.compose(place->unit, place->sequence);
    }

    /// Read the origin, and with it the pool, once per transaction.
    void read_pool() {
        const auto origin = read_origin();
        if (!origin) report_no_origin();
        origin_ms_ = *origin;
        // The units that begin before the origin.
        uint64_t end_unit = 0;
        if (origin_ms_ > layout().epoch_unix_ms)
            end_unit = std::min(layout().units_at(origin_ms_ - 1), layout().max_timestamp()) + 1;
        pool_ = {definition_.id, end_unit, core_.sequence_min(), core_.sequence_max()};
        transaction_ = current_transaction();
    }

    /// The generator, for error messages.
    const char* subject() const {
        return definition_.is_default() ? "default Snowflake generator"
                                        : psprintf("ID generator \"%s\"", name_);
    }

    [[noreturn]] void report_no_origin() const {
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("%s cannot generate IDs of past times", subject()),
                        errdetail("It was restored from a snapshot or inserted by hand, so it may "
                                  "have issued IDs of any time."),
                        errhint("Create a generator whose node no other generator has.")));
    }

    [[noreturn]] void report_too_late(TimestampTz time) const {
        const char* const shown = pstrdup(timestamptz_to_str(time));
        ereport(ERROR, (errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
                        errmsg("timestamp out of range for IDs of past times: %s", shown),
                        errdetail("The %s may issue IDs since %s.", subject(),
                                  timestamptz_to_str(timestamp_from_unix_ms(origin_ms_))),
                        errhint("Create a generator whose node no other generator has. It can "
                                "generate IDs of all times before its creation.")));
    }

    [[noreturn]] void report_used_up(TimestampTz time) const {
        ereport(ERROR, (errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
                        errmsg("%s has no IDs left for timestamp %s", subject(),
                               pstrdup(timestamptz_to_str(time))),
                        errdetail("All IDs from that time to %s are used up.",
                                  timestamptz_to_str(timestamp_from_unix_ms(origin_ms_))),
                        errhint("Create a generator whose node no other generator has.")));
    }

    SnowflakeGenerator core_{default_layout, 0};
    int64_t origin_ms_ = 0;
    backfill::Pool pool_{};
    LocalTransactionId transaction_ = InvalidLocalTransactionId;  // when origin_ms_ was read
};

BackfillHandle default_backfill;
GeneratorCache<BackfillHandle> named_backfills;

}  // namespace

/// snowflake_at(timestamptz) → bigint
SNOWDRIFT_FUNCTION(snowflake_at) { PG_RETURN_INT64(default_backfill.at(PG_GETARG_TIMESTAMPTZ(0))); }

/// snowflake_at(timestamptz, generator text) → bigint
SNOWDRIFT_FUNCTION(snowflake_at_of) {
    BackfillHandle& generator = named_backfills.get(PG_GETARG_TEXT_PP(1));
    PG_RETURN_INT64(generator.at(PG_GETARG_TIMESTAMPTZ(0)));
}
