// The SQL function snowdrift.reset_clock(): after the clock had jumped into the future, sets the
// mark back and discards the states.
#include <algorithm>

#include "pg/mark/advance_state.hpp"
#include "pg/mark/mark.hpp"
#include "pg/named/definition_table.hpp"
#include "pg/named/definitions.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/settings.hpp"
#include "pg/support/time.hpp"
#include "protocol/lease.hpp"

extern "C" {
#include "tcop/utility.h"
}

using namespace snowdrift;

namespace {

using definitions::Column;
using definitions::Row;

/// The greatest id of all generators, or a greater one, whether or not their creation has been
/// committed. (Replication can set the sequence of the ids back.)
int32_t last_generator() {
    uint32_t last = definitions::next_id();
    definitions::for_each_row(
        [&](const Row& row) { last = std::max(last, row.number(Column::id)); });
    return static_cast<int32_t>(last);
}

/// The latest time of the origins and states of all generators. `common` limits the origins of
/// earlier generators.
int64_t latest_time(const mark_table::Origin& common) {
    slots::map_chunks();
    int64_t latest = std::max(common.unix_ms, latest_unix_ms());
    definitions::for_each_row([&](const Row& row) {
        const auto& time = row[Column::origin];
        if (time && int64_t{row.number(Column::id)} > common.last_generator)
            latest = std::max(latest, unix_ms_ceil(DatumGetTimestampTz(*time)));
    });
    return latest;
}

}  // namespace

/// snowdrift.reset_clock() → void
SNOWDRIFT_FUNCTION(reset_clock) {
    PreventCommandIfReadOnly("snowdrift.reset_clock()");
    const int64 max_lead_ms = settings::max_clock_lead + lease_ms;
    if (!mark::reset(max_lead_ms, last_generator, latest_time))
        ereport(
            ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("clock does not need a reset"),
             errdetail("The mark, the generators' origins and the watermarks that were read are at "
                       "most %lld ms ahead of the server's clock, which does not stop "
                       "generation.",
                       static_cast<long long>(max_lead_ms))));
    PG_RETURN_VOID();
}
