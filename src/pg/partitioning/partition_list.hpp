// The partitions of a table that is partitioned by a range of IDs, and the times of their bounds.
#pragma once

#include <optional>

#include "pg/support/postgres.hpp"
#include "pg/types/column_ids.hpp"
#include "pg/types/snowflake_layout_type.hpp"

extern "C" {
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

    /// Whether all of the partition's IDs are older than `time`.
    bool end_before(TimestampTz time) const;

    /// The range as a Datum of type tstzrange.
    Datum range() const;
};

/// Whether an argument other than the layout is null. Then the functions return no rows, as strict
/// functions do. `layout`: the number of the layout's argument, counted from 0.
inline bool has_null(FunctionCallInfo fcinfo, int layout) {
    for (int n = 0; n < PG_NARGS(); ++n)
        if (n != layout && PG_ARGISNULL(n)) return true;
    return false;
}

/// The IDs in the partition key of `parent`. `stated`: the layout of Snowflake IDs as the user has
/// stated it, or null. Raises 42809 if `parent` is not partitioned by a range of IDs, and the
/// errors of layout_of_column().
ColumnIds partition_key(Relation parent, const SnowflakeLayout* stated);

/// Raises a NOTICE that shows the layout of the IDs in the partition key of `parent`, if the layout
/// is that of the column's default (`stated` is null) and is not the default layout.
void announce_layout(Oid parent, const ColumnIds& ids, const SnowflakeLayout* stated);

/// A partition; nothing if it was dropped or detached concurrently.
std::optional<Partition> find_partition(Oid oid);

/// The OIDs of the partitions of a table, in ascending order, except those that are being detached
/// concurrently, even if the snapshot of the statement is older. Does not lock the partitions.
List* partitions_of(Oid parent);

/// Calls visit(Partition) for each of partitions_of().
template <typename Visit>
void for_each_partition(Oid parent, Visit visit) {
    List* const partitions = partitions_of(parent);
    ListCell* cell;
    foreach (cell, partitions)
        if (const auto partition = find_partition(lfirst_oid(cell))) visit(*partition);
}

/// The times of the IDs in a partition; nothing for a default partition, and for a partition with a
/// bound that is not a valid ID.
std::optional<PartitionTimes> times_of(const Partition& partition, const ColumnIds& ids);

}  // namespace snowdrift
