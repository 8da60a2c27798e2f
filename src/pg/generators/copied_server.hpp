// Copies of a server, such as those of pg_createsubscriber, have its mark, its definitions, and
// often its number, so both servers could generate equal IDs. A copy is detected if its system
// identifier differs from that of the server that owns the mark.
#pragma once

#include "pg/generators/definitions.hpp"
#include "pg/generators/node.hpp"

namespace snowdrift {

/// Makes this server the owner of the mark. If the server is a copy of the previous owner, the mark
/// also records the source, until confirm_node() is called. Called before a generator is created,
/// and before a session draws IDs of any kind. Raises 25006 during recovery.
void own_mark();

/// Ensures that this server is not a copy, or that the number applies to all sessions of the
/// database and is not that of the source. Records a number that applies to the database. Raises
/// 55000. Precondition: own_mark() was called.
void check_not_copy(const ServerNumber& number);

/// Ensures that the generator `name`, whose IDs do not contain the server's number, did not come
/// with the copy. Raises 55000. Precondition: own_mark() was called.
void check_not_copied(const char* name, const Definition& definition);

/// Whether check_not_copy() would raise 55000. Needs no own_mark(): also works during recovery.
bool is_copy(const ServerNumber& number);

}  // namespace snowdrift
