// Copies of a server, such as those of pg_createsubscriber, have its mark, its definitions, and
// often its number, so both servers could generate equal IDs. A copy is recognized by the system
// identifier of the server that owns the mark.
#pragma once

#include "pg/generators/definitions.hpp"
#include "pg/generators/node.hpp"

namespace snowdrift {

/// Ensures that this server is not a copy of a server that has the same number, and records the
/// number in the mark. On a copy, a number that does not apply to the whole database does not show
/// that the copy has another one. Raises 55000 on a copy, 25006 during recovery.
void check_not_copy(const ServerNumber& number);

/// Ensures that the source of a copy does not have the generator `name`, whose IDs don't contain
/// the server's number. Raises 55000, and 25006 during recovery.
void check_not_copied(const char* name, const Definition& definition);

/// Whether check_not_copy() would raise 55000.
bool is_copy(const ServerNumber& number);

}  // namespace snowdrift
