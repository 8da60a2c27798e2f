// Administration: what users with an eye on the generators see, and what superusers can do.
#include <algorithm>

#include "pg/clock.hpp"
#include "pg/mark.hpp"
#include "pg/postgres.hpp"
#include "pg/settings.hpp"
#include "pg/time.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/xlog.h"
#include "funcapi.h"
#include "utils/fmgrprotos.h"
}

using namespace snowdrift;

/// snowdrift.read_clock() → wall_clock, mark, lead
SNOWDRIFT_FUNCTION(read_clock) {
    TupleDesc row;
    if (get_call_result_type(fcinfo, nullptr, &row) != TYPEFUNC_COMPOSITE)
        elog(ERROR, "return type must be a row type");

    if (!RecoveryInProgress()) (void)mark::attach();
    const int64 mark_ms = mark::read();
    const int64 now_ms = clock::now_ms();
    const Datum now = TimestampTzGetDatum(timestamp_from_unix_ms(now_ms));
    const Datum latest = TimestampTzGetDatum(timestamp_from_unix_ms(std::max(mark_ms, now_ms)));
    Datum values[] = {now, TimestampTzGetDatum(timestamp_from_unix_ms(mark_ms)),
                      DirectFunctionCall2(timestamp_mi, latest, now)};
    bool nulls[3] = {false, mark_ms == 0, false};
    PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(row), values, nulls)));
}

/// snowdrift.reset_clock() → void
SNOWDRIFT_FUNCTION(reset_clock) {
    const int64 max_lead = settings::max_clock_lead + mark::lease_ms;
    if (!mark::reset(clock::now_ms(), max_lead))
        ereport(
            ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("the clock needs no reset"),
             errdetail("The mark is at most %lld ms ahead of the server's clock, so that IDs "
                       "are generated.",
                       static_cast<long long>(max_lead))));
    PG_RETURN_VOID();
}
