// Objects for which PostgreSQL refuses to change the type of a column: views, functions with SQL
// bodies, and others. Indexes, constraints and statistics are not among them: PostgreSQL rebuilds
// them.
#pragma once

#include "pg/migration/columns.hpp"

namespace snowdrift {

/// Ensures that the types of `columns`, a List of Column that contains all inheriting columns, can
/// be changed in order to convert `key`. Raises 0A000 with the names of all objects for which
/// PostgreSQL would refuse it one after the other, 42809 for a typed table, 42P16 for a partition
/// key.
void check_types_can_change(const Column& key, List* columns);

/// Whether the partition key of the column's table contains the column.
bool is_in_partition_key(const Column& column);

/// The sequences that the column owns, those of identity columns excluded, as a List of Oid.
List* owned_sequences(const Column& column);

}  // namespace snowdrift
