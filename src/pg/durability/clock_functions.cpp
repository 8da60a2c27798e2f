// The SQL functions of the clock and the mark: snowdrift.read_clock(), on which the view
// snowdrift.clock is based, snowdrift.reset_clock(), and the triggers of snowdrift.mark.
#include <algorithm>

#include "pg/durability/mark.hpp"
#include "pg/durability/mark_table.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/row.hpp"
#include "pg/support/settings.hpp"
#include "pg/support/time.hpp"
#include "pg/support/trigger.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/xlog.h"
#include "replication/logicalworker.h"
#include "tcop/utility.h"
}

using namespace snowdrift;

/// snowdrift.read_clock() → wall_clock, mark, lead
SNOWDRIFT_FUNCTION(read_clock) {
    if (!RecoveryInProgress()) (void)mark::attach();
    const int64 mark_ms = mark::read();
    const int64 now_ms = clock::now_ms();
    std::optional<Datum> mark;
    if (mark_ms != 0) mark = TimestampTzGetDatum(timestamp_from_unix_ms(mark_ms));
    return make_row(fcinfo, {TimestampTzGetDatum(timestamp_from_unix_ms(now_ms)), mark,
                             interval_from_ms(std::max<int64>(mark_ms - now_ms, 0))});
}

/// snowdrift.reset_clock() → void
SNOWDRIFT_FUNCTION(reset_clock) {
    PreventCommandDuringRecovery("snowdrift.reset_clock()");
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

/// snowdrift.restore_mark() → trigger: advances the mark to that of a restored dump's row, and
/// skips the row. A row that a subscription applies has another server's mark: it is only skipped.
SNOWDRIFT_FUNCTION(restore_mark) {
    const TriggerData& trigger =
        check_trigger(fcinfo, "mark", TRIGGER_EVENT_ROW | TRIGGER_EVENT_BEFORE);
    if (IsLogicalWorker()) PG_RETURN_POINTER(nullptr);
    bool is_null;
    const Datum unix_ms =
        heap_getattr(trigger.tg_trigtuple, 1, RelationGetDescr(trigger.tg_relation), &is_null);
    if (is_null || DatumGetInt64(unix_ms) < 0 || DatumGetInt64(unix_ms) > mark_table::max_unix_ms)
        ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                        errmsg("unix_ms of table \"snowdrift.mark\" must be in range 0 .. %lld",
                               static_cast<long long>(mark_table::max_unix_ms))));
    mark::restore(DatumGetInt64(unix_ms));
    PG_RETURN_POINTER(nullptr);
}

/// snowdrift.refuse_mark_change() → trigger: raises an error.
SNOWDRIFT_FUNCTION(refuse_mark_change) {
    (void)check_trigger(fcinfo, "mark", TRIGGER_EVENT_BEFORE);
    ereport(
        ERROR,
        (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("cannot change table \"snowdrift.mark\""),
         errdetail("Changing the mark could cause IDs to be repeated."),
         errhint("To advance the mark, call snowdrift.advance(). If the clock had jumped into "
                 "the future, call snowdrift.reset_clock().")));
}
