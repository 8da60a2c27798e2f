// The SQL functions snowdrift.create_partitions() and snowdrift.partitions(), which create and list
// the partitions by time of tables that are partitioned by a range of IDs.
#include <algorithm>
#include <cstring>
#include <optional>

#include "pg/partitioning/partition_list.hpp"
#include "pg/partitioning/time_step.hpp"
#include "pg/support/checks.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/row.hpp"
#include "pg/support/tables.hpp"
#include "pg/support/time.hpp"

extern "C" {
#include "access/table.h"
#include "commands/defrem.h"
#include "commands/tablespace.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
}

using namespace snowdrift;

namespace {

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
/// layout snowflake_layout) → setof regclass
SNOWDRIFT_FUNCTION(create_partitions) {
    InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
    if (has_null(fcinfo, 4)) return Datum{0};
    const Oid parent_oid = PG_GETARG_OID(0);
    const TimeStep step{*PG_GETARG_INTERVAL_P(1)};
    const TimestampTz first = PG_GETARG_TIMESTAMPTZ(2);
    const TimestampTz last = PG_GETARG_TIMESTAMPTZ(3);
    PreventCommandIfReadOnly("snowdrift.create_partitions()");

    check_owner(parent_oid);
    // The lock blocks sessions that create or detach partitions, but not readers and writers.
    Relation relation = table_open(parent_oid, ShareUpdateExclusiveLock);
    const ColumnIds ids = partition_key(relation, stated_layout(fcinfo, 4));
    const char* const options = storage_options(relation);
    table_close(relation, NoLock);

    const TimeRange times = ids.times();
    (void)check_time(times, first, unix_ms_floor(first));
    (void)check_time(times, last, unix_ms_floor(last));
    SPI_connect();
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
        }
        begin = end;
    }
    SPI_finish();
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
    const ColumnIds ids = partition_key(relation, stated_layout(fcinfo, 1));
    table_close(relation, AccessShareLock);

    for_each_partition(parent_oid, [&](const Partition& partition) {
        std::optional<Datum> range;
        if (const auto times = times_of(partition, ids)) range = times->range();
        add_row(fcinfo, {ObjectIdGetDatum(partition.oid), range});
    });
    return Datum{0};
}
