// Objects that depend on columns whose types change: views, functions with SQL bodies, and others.
// Indexes, constraints and statistics need no care, because PostgreSQL rebuilds them.
#pragma once

#include "pg/migration/columns.hpp"

namespace snowdrift {

/// The views that must be dropped and created again in order to change the types of `columns`, as a
/// List of Oid in the order in which to drop them. `columns` is a List of Column that contains all
/// inheriting columns. Raises 0A000 with the names of all other objects that prevent the change, or
/// with that of a replica identity, 42809 for a typed table, and 42P16 for a partition key.
/// Requires a connection to SPI. The current user is the owner of the columns' tables.
List* views_of(List* columns);

/// Whether the partition key of the column's table contains the column.
bool is_in_partition_key(const Column& column);

/// The sequences that depend on the column in this way, as a List of Oid: DEPENDENCY_INTERNAL for
/// that of its identity, DEPENDENCY_AUTO for the others that it owns.
List* owned_sequences(const Column& column, char dependency);

}  // namespace snowdrift
