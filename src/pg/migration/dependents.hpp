// Objects that prevent a change of a column's type: views, functions with SQL bodies, and others.
// Indexes, constraints and statistics do not prevent it, because PostgreSQL rebuilds them.
#pragma once

#include "pg/migration/columns.hpp"

namespace snowdrift {

/// Ensures that the types of `columns` can be changed in order to convert `key`. `columns` is a
/// List of Column that contains all inheriting columns. Raises 0A000 with the names of all objects
/// that prevent the change, 42809 for a typed table, and 42P16 for a partition key.
void check_types_can_change(const Column& key, List* columns);

/// Whether the partition key of the column's table contains the column.
bool is_in_partition_key(const Column& column);

/// The sequences that the column owns, except the sequence of an identity, as a List of Oid.
List* owned_sequences(const Column& column);

}  // namespace snowdrift
