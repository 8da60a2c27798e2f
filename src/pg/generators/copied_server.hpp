// Whose IDs the mark covers: its row says which server has issued the last ones, and with which
// number. Another server may generate equal IDs if this one is a copy of that server, such as those
// of pg_createsubscriber, or a promoted clone in a Citus cluster, or has lost its configured
// number.
#pragma once

#include "pg/generators/definitions.hpp"
#include "pg/generators/node.hpp"
#include "pg/support/citus.hpp"

namespace snowdrift {

/// Makes this server the owner of the mark. If the server is a copy of the previous owner, the mark
/// also records the source, until confirm_node() is called. Changes nothing while the server may be
/// a clone of the owner. Called before a generator is created, and before a session draws IDs of
/// any kind. Raises 25006 during recovery.
void own_mark();

/// Ensures that no other server is known to have the number, which was read with `membership`.
/// Records a number that applies to the database. Raises 55000. Precondition: own_mark() was
/// called.
void check_own_number(const ServerNumber& number, const citus::Membership& membership);

/// Ensures that the generator `name`, whose IDs do not contain the server's number, did not come
/// with the copy. Raises 55000. Precondition: own_mark() was called.
void check_not_copied(const char* name, const Definition& definition);

/// Returns why check_own_number() would raise 55000; null if it would not. Needs no own_mark():
/// also works during recovery.
const char* find_number_problem(const ServerNumber& number, const citus::Membership& membership);

}  // namespace snowdrift
