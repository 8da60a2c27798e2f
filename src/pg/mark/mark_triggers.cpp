// The triggers of snowdrift_tables.mark: a restored dump advances the mark, and nothing else may
// change it.
#include <algorithm>

#include "pg/record/record.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/scan.hpp"
#include "pg/support/trigger.hpp"

using namespace snowdrift;

namespace {

/// A time in the row that is inserted, in Unix milliseconds. Raises 22003.
int64 inserted_time(const TriggerData& trigger, record::Column column, const char* name) {
    const auto value = get_column(trigger.tg_relation, trigger.tg_trigtuple, column);
    const int64 unix_ms = DatumGetInt64(value.value_or(Int64GetDatum(-1)));
    if (unix_ms < 0 || unix_ms > mark_protocol::max_unix_ms)
        ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                        errmsg("%s of table \"snowdrift_tables.mark\" must be in range 0 .. %lld",
                               name, static_cast<long long>(mark_protocol::max_unix_ms))));
    return unix_ms;
}

}  // namespace

/// snowdrift_tables.restore_mark() → trigger: advances the mark and the latest watermark to those
/// of a restored dump's row, extends the origin to that of the row, and skips the row. A row of
/// another server is only skipped if it has a replication origin; without one, it cannot be told
/// from a row of a dump.
SNOWDRIFT_FUNCTION(restore_mark) {
    const TriggerData& trigger =
        check_trigger(fcinfo, "mark", TRIGGER_EVENT_ROW | TRIGGER_EVENT_BEFORE);
    using record::Column;
    if (has_replication_origin()) PG_RETURN_POINTER(nullptr);
    const auto generators =
        get_column(trigger.tg_relation, trigger.tg_trigtuple, Column::origin_generators);
    const int64 unix_ms = inserted_time(trigger, Column::unix_ms, "unix_ms");
    const int64 origin_ms = inserted_time(trigger, Column::origin_ms, "origin_ms");
    const int64 watermark_ms = inserted_time(trigger, Column::watermark_ms, "watermark_ms");
    // Sessions detect the later mark when they next advance it.
    Relation table = record::open();
    (void)record::update(table, [&](record::Row& row) {
        if (row.unix_ms < unix_ms || row.watermark_ms < watermark_ms) {
            row.unix_ms = std::max({row.unix_ms, unix_ms, watermark_ms});
            row.writer = record::Writer::outside;
        }
        row.watermark_ms = std::max(row.watermark_ms, watermark_ms);
        row.origin_ms = std::min(row.origin_ms, origin_ms);
        row.origin_generators =
            std::max(row.origin_generators, DatumGetInt32(generators.value_or(Int32GetDatum(0))));
    });
    relation_close(table, RowExclusiveLock);
    PG_RETURN_POINTER(nullptr);
}

/// snowdrift_tables.refuse_mark_change() → trigger: raises an error.
SNOWDRIFT_FUNCTION(refuse_mark_change) {
    (void)check_trigger(fcinfo, "mark", TRIGGER_EVENT_BEFORE);
    ereport(ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
             errmsg("cannot change table \"snowdrift_tables.mark\""),
             errdetail("Changing the mark could cause IDs to be repeated."),
             errhint("To advance the mark, call snowdrift.advance(). If the clock had jumped into "
                     "the future, call snowdrift.reset_clock().")));
}
