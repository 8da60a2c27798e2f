// The partitions of a table that is partitioned by a range of IDs, and the times of their bounds.
#pragma once

#include <optional>

#include "pg/support/postgres.hpp"
#include "pg/types/column_ids.hpp"

extern "C" {
#include "catalog/pg_inherits.h"
#include "nodes/pg_list.h"
#include "utils/relcache.h"
}

namespace snowdrift {

/// A bound of a partition; nothing for MINVALUE and MAXVALUE.
using Bound = std::optional<Datum>;

struct Partition {
    Oid oid;
    bool is_default;
    Bound from;
    Bound to;
};

/// The range of the times of the IDs in a partition.
struct PartitionTimes {
    std::optional<TimestampTz> from;  ///< inclusive; nothing for MINVALUE
    std::optional<TimestampTz> to;    ///< nothing for MAXVALUE
    bool includes_to;                 ///< true if the upper bound is not the first ID of its time

    /// Whether the partition has a lower bound, and all of its IDs are older than `time`.
    bool are_before(TimestampTz time) const;

    /// The range as a Datum of type tstzrange.
    Datum range() const;
};

/// The IDs in the partition key of `parent`. `layout`: the layout of Snowflake IDs. Raises 42809 if
/// `parent` is not partitioned by a range of IDs.
ColumnIds partition_key(Relation parent, const SnowflakeLayout& layout);

/// A partition; nothing if it was dropped or detached concurrently.
std::optional<Partition> find_partition(Oid oid);

/// Calls visit(Partition) for each partition of a table, except those that are being detached
/// concurrently. Does not lock the partitions.
template <typename Visit>
void for_each_partition(Oid parent, Visit visit) {
    List* const children = find_inheritance_children(parent, NoLock);
    ListCell* cell;
    foreach (cell, children)
        if (const auto partition = find_partition(lfirst_oid(cell))) visit(*partition);
}

/// The times of the IDs in a partition; nothing for a default partition, and for a partition with a
/// bound that is not a valid ID.
std::optional<PartitionTimes> times_of(const Partition& partition, const ColumnIds& ids);

}  // namespace snowdrift
