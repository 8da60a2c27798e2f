// Objects that depend on columns whose types change: views, functions with SQL bodies, and others.
// Indexes, constraints and statistics need no care, because PostgreSQL rebuilds them.
#pragma once

#include "pg/migration/columns.hpp"

namespace snowdrift {

/// The views that must be dropped and created again in order to change the types of `columns`, as a
/// List of Oid in the order in which to drop them. `columns` is a List of Column that contains all
/// inheriting columns. Raises 0A000 with the names of all other objects that prevent the change,
/// 42809 for a typed table, and 42P16 for a partition key. Requires a connection to SPI. The
/// current user is the owner of the columns' tables.
List* views_of(List* columns);

/// Whether the partition key of the column's table contains the column.
bool is_in_partition_key(const Column& column);

/// The sequences that the column owns, as a List of Oid: that of its identity, or the others.
List* owned_sequences(const Column& column, bool is_identity);

}  // namespace snowdrift
