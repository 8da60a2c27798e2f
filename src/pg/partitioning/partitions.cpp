// The SQL functions snowdrift.create_partitions() and snowdrift.partitions(), which create and list
// the partitions by time of tables that are partitioned by a range of IDs.
#include <algorithm>
#include <cstring>
#include <optional>

#include "pg/partitioning/partition_list.hpp"
#include "pg/support/checks.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/row.hpp"
#include "pg/support/tables.hpp"
#include "pg/support/time.hpp"

extern "C" {
#include "access/table.h"
#include "access/xact.h"
#include "commands/defrem.h"
#include "commands/tablespace.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
}

using namespace snowdrift;

namespace {

/// The time steps of partitions, in UTC: whole months, or whole minutes, hours or days. Steps of
/// months are counted from January of the year 0, so that three months are a quarter. Other steps
/// are counted from Monday, 2001-01-01, so that seven days are a week.
class TimeStep {
 public:
    /// Raises 22023 unless the interval is a positive whole number of months or of minutes.
    explicit TimeStep(const Interval& step);

    /// The beginning of the step that contains `time`.
    TimestampTz begin_of(TimestampTz time) const;

    /// The beginning of the step after the one that begins at `begin`; DT_NOEND if it is out of
    /// PostgreSQL's range.
    TimestampTz next(TimestampTz begin) const;

    /// The suffix of the partition's name for the step that begins at `begin`: YYYY_MM, YYYY_MM_DD
    /// or YYYY_MM_DD_hhmm.
    const char* suffix(TimestampTz begin) const;

 private:
    int64 us_ = 0;
    int64 months_ = 0;
};

pg_tm fields_of(TimestampTz time) {
    pg_tm fields{};
    fsec_t fraction;
    if (timestamp2tm(time, nullptr, &fields, &fraction, nullptr, nullptr) != 0)
        elog(ERROR, "timestamp out of range");
    return fields;
}

TimestampTz time_of_month(int64 month) {
    if (month / 12 > JULIAN_MAXYEAR) return DT_NOEND;
    pg_tm fields{};
    fields.tm_year = static_cast<int>(month / 12);
    fields.tm_mon = static_cast<int>(month % 12) + 1;
    fields.tm_mday = 1;
    TimestampTz time;
    return tm2timestamp(&fields, 0, nullptr, &time) == 0 ? time : DT_NOEND;
}

TimeStep::TimeStep(const Interval& step) {
    int64 days_us;
    const bool is_in_range = !__builtin_mul_overflow(int64{step.day}, USECS_PER_DAY, &days_us) &&
                             !__builtin_add_overflow(days_us, step.time, &us_);
    months_ = step.month;
    const bool is_months = months_ > 0 && us_ == 0;
    const bool is_minutes = months_ == 0 && us_ > 0 && us_ % USECS_PER_MINUTE == 0;
    if (is_in_range && (is_months || is_minutes)) return;
    const Datum shown = DirectFunctionCall1(interval_out, IntervalPGetDatum(&step));
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("invalid partition step: \"%s\"", DatumGetCString(shown)),
                    errhint("The step must be a positive whole number of months, or of minutes, "
                            "hours or days.")));
}

TimestampTz TimeStep::begin_of(TimestampTz time) const {
    if (months_ > 0) {
        const pg_tm fields = fields_of(time);
        const int64 month = int64{12} * fields.tm_year + fields.tm_mon - 1;
        return time_of_month(month - month % months_);
    }
    constexpr TimestampTz monday = 366 * USECS_PER_DAY;  // 2001-01-01
    const int64 remainder = (time - monday) % us_;
    return time - remainder - (remainder < 0 ? us_ : 0);
}

TimestampTz TimeStep::next(TimestampTz begin) const {
    Assert(begin == begin_of(begin));
    if (months_ > 0) {
        const pg_tm fields = fields_of(begin);
        return time_of_month(int64{12} * fields.tm_year + fields.tm_mon - 1 + months_);
    }
    TimestampTz end;
    if (__builtin_add_overflow(begin, us_, &end) || !IS_VALID_TIMESTAMP(end)) return DT_NOEND;
    return end;
}

const char* TimeStep::suffix(TimestampTz begin) const {
    const pg_tm fields = fields_of(begin);
    const char* const month = psprintf("%04d_%02d", fields.tm_year, fields.tm_mon);
    if (months_ > 0) return month;
    const char* const day = psprintf("%s_%02d", month, fields.tm_mday);
    if (us_ % USECS_PER_DAY == 0) return day;
    return psprintf("%s_%02d%02d", day, fields.tm_hour, fields.tm_min);
}

/// The beginning of the third step after the one that contains `first`, if the IDs can hold it;
/// otherwise, their last time. Precondition: the IDs can hold `first`.
TimestampTz default_last(const TimeStep& step, TimestampTz first, const TimeRange& times) {
    const TimestampTz end = timestamp_from_unix_ms(times.last_ms);
    TimestampTz last = step.begin_of(first);
    for (int i = 0; i < 3 && last <= end; ++i) last = step.next(last);
    return std::min(last, end);
}

/// Ensure that the times are in order. Raises 22023.
void check_order(TimestampTz first, TimestampTz last) {
    if (first <= last) return;
    // timestamptz_to_str() returns the same buffer each time.
    const char* const shown = pstrdup(timestamptz_to_str(first));
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("first must not be later than last"),
             errdetail("The first time is %s, and the last time is %s.", shown,
                       timestamptz_to_str(last))));
}

/// The clauses for the access method and the tablespace of a table.
const char* storage_options(Relation table) {
    StringInfoData options;
    initStringInfo(&options);
    if (OidIsValid(table->rd_rel->relam))
        appendStringInfo(&options, " USING %s",
                         quote_identifier(get_am_name(table->rd_rel->relam)));
    if (OidIsValid(table->rd_rel->reltablespace))
        appendStringInfo(&options, " TABLESPACE %s",
                         quote_identifier(get_tablespace_name(table->rd_rel->reltablespace)));
    return options.data;
}

/// Create a partition as a separate table and attach it, which does not block readers and writers
/// of the parent.
Oid create(Oid parent, const char* options, const char* suffix, const char* from, const char* to) {
    const Oid schema = get_rel_namespace(parent);
    const char* const name = psprintf("%s_%s", get_rel_name(parent), suffix);
    if (std::strlen(name) >= NAMEDATALEN)
        ereport(ERROR, (errcode(ERRCODE_NAME_TOO_LONG),
                        errmsg("partition name \"%s\" is too long", name)));
    const char* const partition = quote_qualified_identifier(get_namespace_name(schema), name);
    execute(
        psprintf("CREATE TABLE %s (LIKE %s INCLUDING ALL EXCLUDING COMMENTS EXCLUDING IDENTITY"
                 " EXCLUDING INDEXES EXCLUDING STATISTICS)%s",
                 partition, qualified_name(parent), options));
    execute(psprintf("ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%s) TO (%s)",
                     qualified_name(parent), partition, from, to));
    return get_relname_relid(name, schema);
}

bool are_equal(const ColumnIds& ids, const Bound& a, const Bound& b) {
    if (!a || !b) return !a && !b;
    return ids.sort_key(*a) == ids.sort_key(*b);
}

bool exists(Oid parent, const ColumnIds& ids, const Bound& from, const Bound& to) {
    bool found = false;
    for_each_partition(parent, [&](const Partition& other) {
        found |=
            !other.is_default && are_equal(ids, other.from, from) && are_equal(ids, other.to, to);
    });
    return found;
}

}  // namespace

/// snowdrift.create_partitions(parent regclass, step interval, first timestamptz, last timestamptz,
/// layout snowflake_layout) → setof regclass. By default, `first` is now(), and `last` is three
/// steps later.
SNOWDRIFT_FUNCTION(create_partitions) {
    InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
    if (PG_ARGISNULL(0) || PG_ARGISNULL(1)) return Datum{0};
    const Oid parent_oid = PG_GETARG_OID(0);
    const TimeStep step{*PG_GETARG_INTERVAL_P(1)};
    const TimestampTz first =
        PG_ARGISNULL(2) ? GetCurrentTransactionStartTimestamp() : PG_GETARG_TIMESTAMPTZ(2);
    if (!PG_ARGISNULL(3)) check_order(first, PG_GETARG_TIMESTAMPTZ(3));
    PreventCommandIfReadOnly("snowdrift.create_partitions()");

    check_owner(parent_oid);
    // The lock blocks sessions that create or detach partitions, but not readers and writers.
    Relation relation = table_open(parent_oid, ShareUpdateExclusiveLock);
    const SnowflakeLayout* const layout = stated_layout(fcinfo, 4);
    const ColumnIds ids = partition_key(relation, layout);
    const char* const options = storage_options(relation);
    table_close(relation, NoLock);

    const TimeRange times = ids.times();
    (void)check_time(times, first, unix_ms_floor(first));
    const TimestampTz last =
        PG_ARGISNULL(3) ? default_last(step, first, times) : PG_GETARG_TIMESTAMPTZ(3);
    (void)check_time(times, last, unix_ms_floor(last));
    SPI_connect();
    bool has_created = false;
    for (TimestampTz begin = step.begin_of(first); begin <= last;) {
        CHECK_FOR_INTERRUPTS();
        const TimestampTz end = step.next(begin);
        // The first and the last step may extend beyond the range of timestamps.
        const Datum from = ids.boundary(std::max<int64>(unix_ms_floor(begin), times.first_ms));
        const bool is_last = end == DT_NOEND || unix_ms_floor(end) > times.last_ms;
        Bound to;
        if (!is_last) to = ids.boundary(unix_ms_floor(end));
        if (!exists(parent_oid, ids, from, to)) {
            const Oid created = create(parent_oid, options, step.suffix(begin), ids.literal(from),
                                       to ? ids.literal(*to) : "MAXVALUE");
            add_row(fcinfo, {ObjectIdGetDatum(created)});
            has_created = true;
        }
        begin = end;
    }
    SPI_finish();
    // If all partitions exist, a job prints nothing.
    if (has_created) announce_layout(parent_oid, ids, layout);
    return Datum{0};
}

/// snowdrift.partitions(parent regclass, layout snowflake_layout) → setof (partition regclass,
/// times tstzrange)
SNOWDRIFT_FUNCTION(partitions) {
    InitMaterializedSRF(fcinfo, 0);
    if (has_null(fcinfo, 1)) return Datum{0};
    const Oid parent_oid = PG_GETARG_OID(0);
    check_exists(parent_oid);
    Relation relation = table_open(parent_oid, AccessShareLock);
    const SnowflakeLayout* const layout = stated_layout(fcinfo, 1);
    const ColumnIds ids = partition_key(relation, layout);
    table_close(relation, AccessShareLock);
    announce_layout(parent_oid, ids, layout);

    for_each_partition(parent_oid, [&](const Partition& partition) {
        std::optional<Datum> range;
        if (const auto times = times_of(partition, ids)) range = times->range();
        add_row(fcinfo, {ObjectIdGetDatum(partition.oid), range});
    });
    return Datum{0};
}
