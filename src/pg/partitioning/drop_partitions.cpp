// The SQL functions snowdrift.drop_partitions() and snowdrift.drop_partitions_before(), which drop
// the partitions whose IDs are all older than an age, or than a time.
#include <algorithm>

#include "pg/partitioning/partition_list.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/datum.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/row.hpp"
#include "pg/support/tables.hpp"
#include "pg/support/time.hpp"

extern "C" {
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "executor/spi.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
}

using namespace snowdrift;

namespace {

struct OldPartition {
    Oid oid;
    PartitionTimes times;
};

const OldPartition& get_old(const ListCell* cell) {
    return *static_cast<const OldPartition*>(lfirst(cell));
}

int compare_ends(const ListCell* a, const ListCell* b) {
    return *get_old(a).times.to < *get_old(b).times.to ? -1 : 1;
}

/// Whether the bounds of a partition are first IDs of times. Others can be those of keys of a
/// sequence, from before the table had Snowflakes, whose age is unknown. Numbers of the layout's
/// first day, below 3.6 * 10^14 in the layout snowflake, can be such keys, except its first number.
/// Precondition: the bounds are IDs.
bool is_range_of_times(const Partition& partition, const ColumnIds& ids) {
    Assert(partition.from && partition.to);
    if (ids.kind() != ColumnIds::Kind::snowflake) return true;
    const auto is_time = [&](Datum bound) {
        return ids.is_boundary(bound) &&
               DatumGetInt64(bound) >= DatumGetInt64(ids.boundary(ids.second_day_ms()));
    };
    const bool is_first =
        DatumGetInt64(*partition.from) == DatumGetInt64(ids.boundary(ids.times().first_ms));
    return (is_first || is_time(*partition.from)) && is_time(*partition.to);
}

/// The IDs in the partition key of `parent`. `layout`: as the user has stated it, or null. Raises
/// the errors of partition_key().
ColumnIds read_key(Oid parent, const SnowflakeLayout* layout) {
    Relation relation = table_open(parent, AccessShareLock);
    const ColumnIds ids = partition_key(relation, layout);
    table_close(relation, AccessShareLock);
    return ids;
}

/// Raises 55000: all partitions look old. In a wrong layout, those of the present do, too.
[[noreturn]] void report_no_present_partition(Oid parent, const ColumnIds& ids) {
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("no partition of table \"%s\" contains the present time or later times",
                           get_rel_name(parent)),
                    errdetail("In layout \"%s\", all of its partitions are old.",
                              layout_text(ids.layout())),
                    errhint("Check the layout. If it is right, first create partitions with "
                            "snowdrift.create_partitions().")));
}

/// The partitions of `parent`, with the IDs `ids` as its key, that are older than `time` and than
/// new IDs, oldest first. Raises 55000 if there are some, none is of the present or later, and the
/// IDs have a layout.
List* find_older(Oid parent, const ColumnIds& ids, TimestampTz time) {
    // New IDs can have a timestamp before now, but not before its time unit.
    const TimestampTz present = timestamp_from_unix_ms(ids.truncate(clock::now_ms()));
    time = std::min(time, present);
    List* found = NIL;
    bool has_present = false;
    for_each_partition(parent, [&](const Partition& partition) {
        const auto times = times_of(partition, ids);
        if (!times) return;
        has_present |= !times->end_before(present);
        if (times->from && times->end_before(time) && is_range_of_times(partition, ids))
            found = lappend(found, allocate(OldPartition{partition.oid, *times}));
    });
    if (found != NIL && !has_present && ids.kind() == ColumnIds::Kind::snowflake)
        report_no_present_partition(parent, ids);
    list_sort(found, compare_ends);
    return found;
}

/// Drop a partition. Precondition: the parent is locked exclusively. Detaching the partition first
/// makes PostgreSQL check whether foreign keys refer to its rows. Otherwise, any foreign key that
/// refers to the parent prevents dropping the partition, even if no row refers to it.
void drop(Oid parent, Oid partition) {
    LockRelationOid(partition, AccessExclusiveLock);
    const AllRows all_rows;
    execute(psprintf("ALTER TABLE %s DETACH PARTITION %s", qualified_name(parent),
                     qualified_name(partition)));
    all_rows.restore();
    // The statement can have waited for locks, and the schema can have been renamed meanwhile.
    const bool is_foreign = get_rel_relkind(partition) == RELKIND_FOREIGN_TABLE;
    execute(
        psprintf("DROP %s %s", is_foreign ? "FOREIGN TABLE" : "TABLE", qualified_name(partition)));
}

/// Drop the partitions of the table in argument 0 whose IDs, in the layout of argument 2, are all
/// older than `time`, and return them. If argument 3 is true, only return them. `function`: the
/// name for an error.
void drop_older(FunctionCallInfo fcinfo, const char* function, TimestampTz time) {
    const Oid parent = PG_GETARG_OID(0);
    const SnowflakeLayout* const layout = stated_layout(fcinfo, 2);
    const bool is_dry_run = PG_GETARG_BOOL(3);
    if (!is_dry_run) PreventCommandIfReadOnly(function);
    check_owner(parent);

    ColumnIds ids = read_key(parent, layout);
    List* older = find_older(parent, ids, time);
    if (!is_dry_run && older != NIL) {
        // The lock is taken only if there are partitions to drop. Other sessions may have changed
        // the key and the partitions before the lock was granted, so read them again.
        LockRelationOid(parent, AccessExclusiveLock);
        check_owner(parent);
        ids = read_key(parent, layout);
        older = find_older(parent, ids, time);
    }
    if (older != NIL) announce_layout(parent, ids, layout);
    SPI_connect();
    ListCell* cell;
    foreach (cell, older) {
        CHECK_FOR_INTERRUPTS();
        const OldPartition& old = get_old(cell);
        // Return the name as text, because a regclass cannot show the name of a dropped table.
        const Datum shown = DirectFunctionCall1(regclassout, ObjectIdGetDatum(old.oid));
        add_row(fcinfo, {CStringGetTextDatum(DatumGetCString(shown)), old.times.range()});
        if (!is_dry_run) drop(parent, old.oid);
    }
    SPI_finish();
}

const char* text_of(PGFunction output, Datum value) {
    return DatumGetCString(DirectFunctionCall1(output, value));
}

/// The time in argument 1. Raises 22023 if it is in the future.
TimestampTz get_time(FunctionCallInfo fcinfo) {
    const TimestampTz time = PG_GETARG_TIMESTAMPTZ(1);
    if (unix_ms_floor(time) > clock::now_ms())
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("timestamp must not be in the future: \"%s\"",
                               text_of(timestamptz_out, TimestampTzGetDatum(time)))));
    return time;
}

/// Whether an age is stated in hours, minutes or seconds only. PostgreSQL reads '90' and '20260101'
/// as seconds, and '6 m' as minutes.
bool is_in_short_units(const Interval& age) {
    return age.month == 0 && age.day == 0 && age.time != 0;
}

/// The time that is earlier than now() by argument 1. Raises 22023 if it is later, or if the
/// age is in short units.
TimestampTz get_time_by_age(FunctionCallInfo fcinfo) {
    const TimestampTz now = GetCurrentTransactionStartTimestamp();
    const Datum age = PG_GETARG_DATUM(1);
    if (is_in_short_units(*PG_GETARG_INTERVAL_P(1)))
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("older_than must be in days, months or years: \"%s\"",
                        text_of(interval_out, age)),
                 errdetail("A number without a unit is in seconds, and \"m\" means minutes."),
                 errhint("Write for example '90 days'. For a date, use "
                         "snowdrift.drop_partitions_before().")));
    const TimestampTz time = DatumGetTimestampTz(
        DirectFunctionCall2(timestamptz_mi_interval, TimestampTzGetDatum(now), age));
    if (time > now)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("older_than must not be negative: \"%s\"", text_of(interval_out, age))));
    return time;
}

}  // namespace

/// snowdrift.drop_partitions(parent regclass, older_than interval, layout snowflake_layout, dry_run
/// boolean) → setof (partition text, times tstzrange). There must be no symbol
/// snowdrift_drop_partitions, to which SQL objects older than version 1.0 pass a time.
SNOWDRIFT_FUNCTION(drop_partitions_by_age) {
    InitMaterializedSRF(fcinfo, 0);
    if (!has_null(fcinfo, 2))
        drop_older(fcinfo, "snowdrift.drop_partitions()", get_time_by_age(fcinfo));
    return Datum{0};
}

/// snowdrift.drop_partitions_before(parent regclass, "timestamp" timestamptz, layout
/// snowflake_layout, dry_run boolean) → setof (partition text, times tstzrange)
SNOWDRIFT_FUNCTION(drop_partitions_before) {
    InitMaterializedSRF(fcinfo, 0);
    if (!has_null(fcinfo, 2))
        drop_older(fcinfo, "snowdrift.drop_partitions_before()", get_time(fcinfo));
    return Datum{0};
}
