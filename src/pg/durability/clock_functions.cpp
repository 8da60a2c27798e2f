// The SQL functions of the clock and the mark: snowdrift.read_clock(), on which the view
// snowdrift.clock is based, and snowdrift.reset_clock().
#include <algorithm>

#include "pg/durability/mark.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/row.hpp"
#include "pg/support/settings.hpp"
#include "pg/support/time.hpp"

extern "C" {
#include "access/xlog.h"
#include "utils/fmgrprotos.h"
}

using namespace snowdrift;

/// snowdrift.read_clock() → wall_clock, mark, lead
SNOWDRIFT_FUNCTION(read_clock) {
    if (!RecoveryInProgress()) (void)mark::attach();
    const int64 mark_ms = mark::read();
    const int64 now_ms = clock::now_ms();
    const Datum now = TimestampTzGetDatum(timestamp_from_unix_ms(now_ms));
    const Datum latest = TimestampTzGetDatum(timestamp_from_unix_ms(std::max(mark_ms, now_ms)));
    std::optional<Datum> mark;
    if (mark_ms != 0) mark = TimestampTzGetDatum(timestamp_from_unix_ms(mark_ms));
    return make_row(fcinfo, {now, mark, DirectFunctionCall2(timestamp_mi, latest, now)});
}

/// snowdrift.reset_clock() → void
SNOWDRIFT_FUNCTION(reset_clock) {
    const int64 max_lead_ms = settings::max_clock_lead + mark::lease_ms;
    if (!mark::reset(clock::now_ms(), max_lead_ms))
        ereport(
            ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("clock does not need a reset"),
             errdetail("The mark is at most %lld ms ahead of the server's clock, which does not "
                       "stop generation.",
                       static_cast<long long>(max_lead_ms))));
    PG_RETURN_VOID();
}
