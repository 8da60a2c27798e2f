// Copies of a server, such as those of pg_createsubscriber, have its mark, its definitions, and
// often its number, so both servers could generate equal IDs. The mark records the system
// identifier of the server that owns it, so a copy with another system identifier is detected.
#pragma once

#include "pg/generators/definitions.hpp"
#include "pg/generators/node.hpp"

namespace snowdrift {

/// Ensures that this server is not a copy that has the number of its source, and records the server
/// and its number in the mark. Raises 55000 on such a copy, 25006 during recovery. A number that
/// does not apply to all sessions of the database is not recorded; a copy with such a number raises
/// 55000, too.
void check_not_copy(const ServerNumber& number);

/// Ensures that a copy does not have this generator from its source. Raises 55000 if it does, 25006
/// during recovery. Precondition: !definition.has_server_number().
void check_not_copied(const Definition& definition);

/// Whether check_not_copy() would report a copy. Also works during recovery.
bool is_copy(const ServerNumber& number);

}  // namespace snowdrift
