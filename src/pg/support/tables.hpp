// Checks of tables that functions change, and statements that change them.
#pragma once

#include "pg/support/postgres.hpp"

namespace snowdrift {

/// Ensures that a relation exists. Raises 42P01.
void check_exists(Oid relation);

/// Ensures that a relation exists, and that the current user has the privileges of its owner.
/// Raises 42P01, or 42501 as ALTER TABLE does.
void check_owner(Oid relation);

/// Whether the current user has the privileges of a relation's owner.
bool is_owner(Oid relation);

/// The name of a relation in SQL statements, qualified and quoted. Raises 42P01 if the relation
/// does not exist.
const char* qualified_name(Oid relation);

/// Executes a statement with the caller's privileges. Requires a connection to SPI.
void execute(const char* statement);

}  // namespace snowdrift
