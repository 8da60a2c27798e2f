// The SQL function snowdrift.audit(), which summarizes the values of a column of IDs: by the node
// that issued them, and by what is wrong with them.
#include <algorithm>
#include <array>
#include <compare>
#include <optional>

#include "pg/migration/columns.hpp"
#include "pg/named/column_default.hpp"
#include "pg/support/checks.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/datum.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/row.hpp"
#include "pg/support/tables.hpp"
#include "pg/support/time.hpp"
#include "pg/types/column_ids.hpp"
#include "pg/types/snowflake_layout_type.hpp"
#include "snowdrift/sno.hpp"
#include "snowdrift/uuidv7.hpp"

extern "C" {
#include "access/relation.h"
#include "executor/spi.h"
#include "executor/tuptable.h"
#include "storage/lmgr.h"
#include "tcop/dest.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
}

using namespace snowdrift;

namespace {

/// The result of checking a value. Ascending values have ascending findings.
enum class Finding : uint64 {
    below,      ///< less than the first ID
    past,       ///< an ID before a given time
    present,    ///< an ID that is neither past nor future
    future,     ///< an ID after the current time
    above,      ///< greater than the last ID
    no_uuidv7,  ///< a UUID that is not of version 7
    null,
};

/// Whether values with this finding are grouped by node.
constexpr bool has_node(Finding finding) {
    return finding == Finding::present || finding == Finding::future;
}

/// The kind of a UUID that is not of version 7: its version, 0 .. 15, or one of these.
enum UuidKind : uint64 { other_variant = 16, nil_uuid, max_uuid };

/// Values with the same finding from the same node.
struct ValueGroup {
    /// Compared and hashed as bytes.
    struct Key {
        Finding finding;
        uint64 node;  ///< a UuidKind for no_uuidv7; 0 for other findings without a node

        friend auto operator<=>(const Key&, const Key&) = default;
    };

    Key key;
    int64 count;
    ColumnIds::SortKey first;  ///< the smallest value; 0 for nulls
    ColumnIds::SortKey last;   ///< the largest value; 0 for nulls
};

/// The smallest value of each finding from `past` on, ascending. Findings without a value are not
/// found.
struct Thresholds {
    std::array<ColumnIds::SortKey, 4> values;
    size_t count = 0;

    void add(const ColumnIds::SortKey& value) {
        Assert(count < values.size() && (count == 0 || values[count - 1] <= value));
        values[count++] = value;
    }

    Finding find(const ColumnIds::SortKey& value) const {
        size_t finding = 0;
        while (finding < count && values[finding] <= value) ++finding;
        return static_cast<Finding>(finding);
    }
};

/// The UuidKind of a UUID, which is not of version 7.
uint64 kind_of_uuid(const ColumnIds::SortKey& uuid) {
    if (uuid == ColumnIds::SortKey{0, 0}) return nil_uuid;
    if (uuid == ColumnIds::SortKey{UINT64_MAX, UINT64_MAX}) return max_uuid;
    if (uuid.low >> Uuidv7::rand_b_bits != 0b10) return other_variant;
    return (uuid.high >> Uuidv7::rand_a_bits) % (1 << Uuidv7::version_bits);
}

/// A destination for the rows of a query that returns one column.
class ValueGroups : public DestReceiver {
 public:
    /// The groups are in the current memory context.
    ValueGroups(const ColumnIds& ids, const Thresholds& thresholds)
        : DestReceiver{receive, start, [](DestReceiver*) {}, [](DestReceiver*) {}, DestNone},
          ids_{ids},
          thresholds_{thresholds} {
        HASHCTL control{};
        control.keysize = sizeof(ValueGroup::Key);
        control.entrysize = sizeof(ValueGroup);
        control.hcxt = CurrentMemoryContext;
        groups_ = hash_create("groups of IDs", 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
    }

    /// Calls visit(ValueGroup) for each group, in the order of findings and nodes.
    template <typename Visit>
    void for_each(Visit visit) const {
        const auto count = static_cast<size_t>(hash_get_num_entries(groups_));
        auto** const sorted = static_cast<ValueGroup**>(
            MemoryContextAllocHuge(CurrentMemoryContext, (count + 1) * sizeof(void*)));
        HASH_SEQ_STATUS scan;
        hash_seq_init(&scan, groups_);
        // The scan ends when it returns a null pointer.
        for (size_t i = 0; i <= count; ++i)
            sorted[i] = static_cast<ValueGroup*>(hash_seq_search(&scan));
        std::sort(sorted, sorted + count,
                  [](const ValueGroup* a, const ValueGroup* b) { return a->key < b->key; });
        for (size_t i = 0; i < count; ++i) visit(*sorted[i]);
    }

 private:
    /// Checks the column's type again: if the schema was renamed, the query can read another table
    /// of the same name.
    static void start(DestReceiver* self, int, TupleDesc row) {
        const Oid type = getBaseType(TupleDescAttr(row, 0)->atttypid);
        if (type != static_cast<ValueGroups*>(self)->ids_.type())
            elog(ERROR, "unexpected type of audited column: %u", type);
    }

    static bool receive(TupleTableSlot* slot, DestReceiver* self) {
        auto& groups = *static_cast<ValueGroups*>(self);
        bool is_null;
        const Datum value = slot_getattr(slot, 1, &is_null);
        if (is_null)
            ++groups.find({Finding::null, 0}).count;
        else
            groups.add(value);
        return true;
    }

    uint64 node_of(Datum id) const {
        if (ids_.kind() == ColumnIds::Kind::snowflake) return DatumGetInt64(id) & node_mask_;
        return ids_.kind() == ColumnIds::Kind::sno ? get_id<Sno>(id).partition() : 0;
    }

    void add(Datum value) {
        const ColumnIds::SortKey key = ids_.sort_key(value);
        ValueGroup& group = find(group_of(value, key));
        if (group.count++ == 0) group.first = group.last = key;
        group.first = std::min(group.first, key);
        group.last = std::max(group.last, key);
    }

    ValueGroup::Key group_of(Datum value, const ColumnIds::SortKey& key) const {
        if (ids_.kind() == ColumnIds::Kind::uuidv7 && !ids_.time_of(value))
            return {Finding::no_uuidv7, kind_of_uuid(key)};
        const Finding finding = thresholds_.find(key);
        return {finding, has_node(finding) ? node_of(value) : 0};
    }

    ValueGroup& find(const ValueGroup::Key& key) {
        bool is_found;
        auto* const group =
            static_cast<ValueGroup*>(hash_search(groups_, &key, HASH_ENTER, &is_found));
        if (!is_found) group->count = 0, group->first = group->last = {};
        return *group;
    }

    ColumnIds ids_;
    Thresholds thresholds_;
    uint64 node_mask_ = ids_.layout().node_field(ids_.layout().max_node());  // in Snowflake IDs
    HTAB* groups_;
};

/// The arguments of audit(), in order.
namespace argument {
enum { table, column, layout, sample, since };
}

/// The IDs in the column. `stated`: the layout as the user has stated it, or null; then the layout
/// of the column's default applies. If the default has no layout, as in foreign keys, views and
/// tables of imported IDs, the default layout applies, as in functions for single IDs, and the
/// result shows it. Raises 42703, 42804, and 42704 if the default calls a generator that does not
/// exist.
ColumnIds find_ids(Oid relation, const char* name, const SnowflakeLayout* stated) {
    const AttrNumber number = find_column(relation, name).number;
    const Oid type = get_atttype(relation, number);
    Relation opened = relation_open(relation, NoLock);
    const SnowflakeLayout layout =
        stated != nullptr ? *stated : layout_of_default(opened, number).value_or(default_layout);
    relation_close(opened, NoLock);
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

const char* name_of_uuid(uint64 kind) {
    switch (kind) {
        case nil_uuid:
            return "nil UUID";
        case max_uuid:
            return "max UUID";
        case other_variant:
            return "UUID of another variant";
        default:
            return psprintf("UUID of version %d", static_cast<int>(kind));
    }
}

const char* name_of(const ValueGroup::Key& group, const SnowflakeLayout& layout, bool has_since) {
    switch (group.finding) {
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
        case Finding::no_uuidv7:
            return name_of_uuid(group.node);
        default:
            return "null";
    }
}

/// Add a group to the result.
void add_group(FunctionCallInfo fcinfo, const ColumnIds& ids, const ValueGroup& group) {
    const Finding finding = group.key.finding;
    const bool has_since = !PG_ARGISNULL(argument::since);
    Assert(group.count > 0 && group.first <= group.last);
    const Datum first = ids.value(group.first);
    const Datum last = ids.value(group.last);
    std::optional<Datum> datacenter, worker, partition, first_time, last_time, min, max, layout;
    if (ids.kind() == ColumnIds::Kind::snowflake) layout = make_datum(ids.layout());
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
            {CStringGetTextDatum(name_of(group.key, ids.layout(), has_since)), datacenter, worker,
             partition, Int64GetDatum(group.count), first_time, last_time, min, max, layout});
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
/// first_timestamp timestamptz, last_timestamp timestamptz, min text, max text, layout
/// snowflake_layout)
SNOWDRIFT_FUNCTION(audit) {
    if (PG_ARGISNULL(argument::table) || PG_ARGISNULL(argument::column))
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                        errmsg("table and column must not be null")));
    // The lock prevents the table from being renamed before the query finds it by its name.
    LockRelationOid(PG_GETARG_OID(argument::table), AccessShareLock);
    check_exists(PG_GETARG_OID(argument::table));
    const ColumnIds ids =
        find_ids(PG_GETARG_OID(argument::table), NameStr(*PG_GETARG_NAME(argument::column)),
                 stated_layout(fcinfo, argument::layout));
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
