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

/// Executes a statement that changes a relation with the privileges of the relation's owner, so
/// that functions in its constraints and indexes do not have the caller's. Requires a connection to
/// SPI. Precondition: check_owner(relation).
void execute_as_owner(Oid relation, const char* statement);

/// The current user is the owner of a relation, to whom row-level security is not applied, and
/// cannot change settings for longer, until restore(). Errors restore, too.
class OwnerContext {
 public:
    explicit OwnerContext(Oid relation);
    void restore() const;

 private:
    Oid user_;
    int context_;
    int settings_;
};

}  // namespace snowdrift
