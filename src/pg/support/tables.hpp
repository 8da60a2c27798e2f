// Checks of tables that functions change, and statements that change them.
#pragma once

#include <span>

#include "pg/support/postgres.hpp"

extern "C" {
#include "access/tupdesc.h"
}

namespace snowdrift {

/// Ensures that a relation exists. Raises 42P01.
void check_exists(Oid relation);

/// Ensures that a relation exists, and that the current user has the privileges of its owner.
/// Raises 42P01, or 42501 as ALTER TABLE does.
void check_owner(Oid relation);

/// The owner of a relation. Raises 42P01.
Oid owner_of(Oid relation);

/// Whether the first columns of a table have these types. That of a dropped column is InvalidOid.
bool has_columns(TupleDesc table, std::span<const Oid> types);

/// Executes a statement. Requires a connection to SPI.
void execute(const char* statement);

/// The current user is the owner of a relation, to whom row-level security is not applied, and
/// cannot change settings for longer, until restore() or an error. Functions that other roles have
/// put in the relation's constraints and indexes do not get the caller's privileges. Precondition:
/// check_owner(relation).
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
