#include "pg/partitioning/partition_list.hpp"

#include "pg/named/column_default.hpp"
#include "pg/support/scan.hpp"

extern "C" {
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type_d.h"
#include "nodes/parsenodes.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/rangetypes.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
}

namespace snowdrift {
namespace {

Bound bound_of(const List* datums) {
    const auto* const bound = static_cast<PartitionRangeDatum*>(linitial(datums));
    if (bound->kind != PARTITION_RANGE_DATUM_VALUE) return std::nullopt;
    return reinterpret_cast<const Const*>(bound->value)->constvalue;
}

}  // namespace

bool PartitionTimes::end_before(TimestampTz time) const {
    return to && (includes_to ? *to < time : *to <= time);
}

Datum PartitionTimes::range() const {
    RangeBound lower{TimestampTzGetDatum(from.value_or(0)), !from, true, true};
    RangeBound upper{TimestampTzGetDatum(to.value_or(0)), !to, includes_to, false};
    return RangeTypePGetDatum(make_range(lookup_type_cache(TSTZRANGEOID, TYPECACHE_RANGE_INFO),
                                         &lower, &upper, false, nullptr));
}

ColumnIds partition_key(Relation parent, const SnowflakeLayout* stated) {
    Assert(CheckRelationLockedByMe(parent, AccessShareLock, true));
    PartitionKeyData* const key = parent->rd_rel->relkind == RELKIND_PARTITIONED_TABLE
                                      ? RelationGetPartitionKey(parent)
                                      : nullptr;
    const bool is_one_column = key != nullptr && key->strategy == PARTITION_STRATEGY_RANGE &&
                               key->partnatts == 1 && key->partattrs[0] != 0;
    // The layout does not matter until the key is known to consist of Snowflake IDs.
    const auto ids =
        is_one_column ? ColumnIds::of(key->parttypid[0], default_layout) : std::nullopt;
    if (!ids)
        ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                        errmsg("table \"%s\" is not partitioned by a range of IDs",
                               RelationGetRelationName(parent)),
                        errhint("The partition key must be a single column of type bigint, ulid, "
                                "sno or uuid.")));
    if (ids->kind() != ColumnIds::Kind::snowflake) return *ids;
    return *ColumnIds::of(key->parttypid[0], layout_of_column(parent, key->partattrs[0], stated));
}

void announce_layout(Oid parent, const ColumnIds& ids, const SnowflakeLayout* stated) {
    if (stated != nullptr || ids.kind() != ColumnIds::Kind::snowflake) return;
    if (ids.layout() == default_layout) return;
    ereport(NOTICE, (errmsg("using layout \"%s\" for the IDs in table \"%s\"",
                            layout_text(ids.layout()), get_rel_name(parent)),
                     errdetail("The default of the partition key draws IDs of this layout.")));
}

List* partitions_of(Oid parent) {
    List* partitions = NIL;
    (void)find_tuple(InheritsRelationId, InheritsParentIndexId,
                     {{Anum_pg_inherits_inhparent, ObjectIdGetDatum(parent)}},
                     [&](HeapTuple tuple) {
                         const auto* const inherits =
                             reinterpret_cast<const FormData_pg_inherits*>(GETSTRUCT(tuple));
                         if (!inherits->inhdetachpending)
                             partitions = lappend_oid(partitions, inherits->inhrelid);
                         return false;
                     });
    list_sort(partitions, list_oid_cmp);
    return partitions;
}

std::optional<Partition> find_partition(Oid oid) {
    HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(oid));
    if (tuple == nullptr) return std::nullopt;
    bool is_null;
    const Datum stored = SysCacheGetAttr(RELOID, tuple, Anum_pg_class_relpartbound, &is_null);
    if (is_null) {
        ReleaseSysCache(tuple);
        return std::nullopt;
    }
    const auto* const bounds =
        static_cast<PartitionBoundSpec*>(stringToNode(TextDatumGetCString(stored)));
    ReleaseSysCache(tuple);
    if (bounds->is_default) return Partition{oid, true, {}, {}};
    return Partition{oid, false, bound_of(bounds->lowerdatums), bound_of(bounds->upperdatums)};
}

std::optional<PartitionTimes> times_of(const Partition& partition, const ColumnIds& ids) {
    if (partition.is_default) return std::nullopt;
    PartitionTimes times{};
    if (partition.from) {
        times.from = ids.time_of(*partition.from);
        if (!times.from) return std::nullopt;
    }
    if (partition.to) {
        times.to = ids.time_of(*partition.to);
        if (!times.to) return std::nullopt;
        times.includes_to = !ids.is_boundary(*partition.to);
    }
    return times;
}

}  // namespace snowdrift
