// The SQL function snowdrift.audit(), which summarizes the values of a column of IDs: by the node
// that issued them, and by what is wrong with them.
#include <algorithm>

#include "pg/migration/columns.hpp"
#include "pg/migration/value_groups.hpp"
#include "pg/support/checks.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/row.hpp"
#include "pg/support/tables.hpp"
#include "pg/support/time.hpp"
#include "pg/types/column_ids.hpp"
#include "pg/types/snowflake_layout_type.hpp"
#include "snowdrift/ulid.hpp"

extern "C" {
#include "executor/spi.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
}

using namespace snowdrift;

namespace {

/// The arguments of audit(), in order.
namespace argument {
enum { table, column, layout, sample, since };
}

/// The IDs in the column. Raises 42703 and 42804.
ColumnIds find_ids(Oid relation, const char* name, const SnowflakeLayout& layout) {
    const Oid type = get_atttype(relation, find_column(relation, name).number);
    const auto ids = ColumnIds::of(type, layout);
    if (!ids)
        ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                        errmsg("column \"%s\" of relation \"%s\" must be of type bigint, ulid, "
                               "sno or uuid",
                               name, get_rel_name(relation)),
                        errdetail("The column is of type %s.", format_type_be(type))));
    return *ids;
}

/// The argument `since`, or its default, in Unix milliseconds; at least the first time of the IDs.
/// Raises 22008.
int64 since_argument(FunctionCallInfo fcinfo, const ColumnIds& ids) {
    if (PG_ARGISNULL(argument::since)) return ids.certain_since_ms();
    const TimeRange times = ids.times();
    const TimestampTz time = PG_GETARG_TIMESTAMPTZ(argument::since);
    const int64 unix_ms = unix_ms_ceil(time);
    return unix_ms <= times.first_ms ? times.first_ms : check_time(times, time, unix_ms);
}

/// The query that returns the values of the column, or of a sample of the rows.
const char* make_query(FunctionCallInfo fcinfo) {
    const char* sampling = "";
    if (!PG_ARGISNULL(argument::sample)) {
        const Datum percentage = DirectFunctionCall1(float4out, PG_GETARG_DATUM(argument::sample));
        sampling = psprintf(" TABLESAMPLE pg_catalog.system('%s'::pg_catalog.float4)",
                            DatumGetCString(percentage));
    }
    return psprintf("SELECT %s FROM %s%s",
                    quote_identifier(NameStr(*PG_GETARG_NAME(argument::column))),
                    qualified_name(PG_GETARG_OID(argument::table)), sampling);
}

const char* name_of(Finding finding, const SnowflakeLayout& layout, bool has_since) {
    switch (finding) {
        case Finding::below:
            // The sign bit is above the timestamp, as in a signed difference of times, or in it.
            return layout.timestamp_bits + layout.timestamp_shift() < 64 ? "earlier than the epoch"
                                                                         : "not an ID";
        case Finding::past:
            return has_since ? "ID earlier than since" : "small number";
        case Finding::present:
            return "ID";
        case Finding::future:
            return "ID later than now";
        case Finding::above:
            return "not an ID";
        default:
            return "null";
    }
}

/// Add a group to the result.
void add_group(FunctionCallInfo fcinfo, const ColumnIds& ids, const ValueGroup& group) {
    const Finding finding = group.key.finding;
    const bool has_since = !PG_ARGISNULL(argument::since);
    const Datum first = ids.value(group.first);
    const Datum last = ids.value(group.last);
    std::optional<Datum> datacenter, worker, partition, first_time, last_time, min, max;
    if (has_node(finding) && ids.kind() == ColumnIds::Kind::snowflake) {
        const SnowflakeParts parts = ids.layout().split(DatumGetInt64(first));
        if (ids.layout().datacenter_bits > 0) datacenter = Int32GetDatum(parts.datacenter);
        if (ids.layout().worker_bits > 0) worker = Int32GetDatum(parts.worker);
    }
    if (has_node(finding) && ids.kind() == ColumnIds::Kind::sno)
        partition = Int32GetDatum(get_id<Sno>(first).partition());
    if (has_node(finding) || (finding == Finding::past && has_since)) {
        first_time = TimestampTzGetDatum(*ids.time_of(first));
        last_time = TimestampTzGetDatum(*ids.time_of(last));
    }
    if (finding != Finding::null) {
        min = CStringGetTextDatum(ids.text(first));
        max = CStringGetTextDatum(ids.text(last));
    }
    add_row(fcinfo,
            {CStringGetTextDatum(name_of(finding, ids.layout(), has_since)), datacenter, worker,
             partition, Int64GetDatum(group.count), first_time, last_time, min, max});
}

/// The smallest values of each finding.
Thresholds find_thresholds(const ColumnIds& ids, int64 since_ms) {
    const TimeRange times = ids.times();
    const int64 future_ms = std::max(clock::now_ms() + 1, since_ms);
    std::optional<ColumnIds::SortKey> above;
    if (ids.kind() == ColumnIds::Kind::snowflake && ids.layout().max_id() < PG_INT64_MAX)
        above = ids.sort_key(Int64GetDatum(ids.layout().max_id() + 1));
    Thresholds thresholds;
    thresholds.add(ids.sort_key(ids.boundary(times.first_ms)));
    thresholds.add(ids.sort_key(ids.boundary(since_ms)));
    if (future_ms <= times.last_ms)
        thresholds.add(ids.sort_key(ids.boundary(future_ms)));
    else if (above)
        thresholds.add(*above);
    if (above) thresholds.add(*above);
    return thresholds;
}

}  // namespace

/// snowdrift.audit("table" regclass, "column" name, layout snowflake_layout, sample real, since
/// timestamptz) → setof (finding text, datacenter int, worker int, partition int, count bigint,
/// first_timestamp timestamptz, last_timestamp timestamptz, min text, max text)
SNOWDRIFT_FUNCTION(audit) {
    if (PG_ARGISNULL(argument::table) || PG_ARGISNULL(argument::column) ||
        PG_ARGISNULL(argument::layout))
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                        errmsg("table, column and layout must not be null")));
    // The lock prevents the table from being renamed before the query finds it by its name.
    LockRelationOid(PG_GETARG_OID(argument::table), AccessShareLock);
    check_exists(PG_GETARG_OID(argument::table));
    const ColumnIds ids =
        find_ids(PG_GETARG_OID(argument::table), NameStr(*PG_GETARG_NAME(argument::column)),
                 get_layout(PG_GETARG_DATUM(argument::layout)));
    InitMaterializedSRF(fcinfo, 0);
    ValueGroups groups{ids, find_thresholds(ids, since_argument(fcinfo, ids))};
    const char* const query = make_query(fcinfo);
    // A read-only query uses the snapshot of the calling query. It was taken before the clock was
    // read, so IDs that are issued during the audit are not later than now.
    SPIExecuteOptions options{};
    options.read_only = true;
    options.dest = &groups;
    SPI_connect();
    if (SPI_execute_extended(query, &options) < 0) elog(ERROR, "could not execute: %s", query);
    SPI_finish();
    groups.for_each([&](const ValueGroup& group) { add_group(fcinfo, ids, group); });
    return Datum{0};
}
