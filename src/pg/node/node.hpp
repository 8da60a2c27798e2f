// The node of a generator: the server's number, from the setting snowdrift.node or from Citus,
// unless the definition has one.
//
// The rule: each server that issues Snowflakes or sno values of one generator needs a number of its
// own. Drawing one raises an error if snowdrift.node gives no number, or if this server finds that
// another may have it. A server does not see the others. It sees the record, which says whose IDs
// the mark covers (mark_owner.hpp): the system identifier, and the number in the last IDs, if it
// was configured. A copy with a new system identifier finds the old one there; a server that has
// lost its configured number finds that number. Both raise 55000 until a superuser calls
// snowdrift.confirm_node(); configuring a number also ends the second.
//
// What can go wrong, and is not noticed: two servers that were configured with the same number, and
// copies that keep the identifier. "Copies of a server" in docs/guarantees.md and docs/limits.md
// list what is and what is not found.
#pragma once

#include <cstdint>
#include <optional>

#include "pg/node/mark_owner.hpp"
#include "snowdrift/snowflake.hpp"

namespace snowdrift {

/// Returns the server's number, 0 .. 65535, which is the partition of sno values. Raises 55000 if
/// it has none, or if another server may have the same. Logs, once per start of the server, that
/// this database may take part in logical replication but the server has no number of its own.
/// `table`: that of the record. Precondition: mark::attach() has returned.
uint32_t server_number(Relation table);

/// Returns the node of a layout's IDs, 0 .. layout.max_node(); 0 if the layout has no node bits.
/// Raises the same errors, and 22023 if the server's number does not fit the layout.
uint32_t node_for(const SnowflakeLayout& layout, Relation table);

/// Returns the server's number, of the node with that membership; nothing if it has none.
std::optional<ServerNumber> find_server_number(const citus::Membership& membership);

}  // namespace snowdrift
