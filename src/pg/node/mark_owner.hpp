// Whose IDs the mark covers: the record says which server has generated the last ones, and with
// which configured number. If this server is another one, or has lost that number, another server
// may generate equal IDs, so drawing Snowflake and sno IDs raises an error until a superuser has
// called snowdrift.confirm_node(), which node.cpp defines.
#pragma once

#include <cstdint>
#include <optional>

#include "pg/node/citus.hpp"
#include "pg/support/postgres.hpp"

extern "C" {
#include "utils/relcache.h"
}

namespace snowdrift {

/// The server's number.
struct ServerNumber {
    uint32_t value;
    bool is_of_database;  ///< whether it applies to all sessions of the database
    bool is_configured;   ///< whether snowdrift.node is not "auto"
    bool is_citus_group;  ///< whether it is that of the group in a Citus cluster, with its offset

    friend bool operator==(const ServerNumber&, const ServerNumber&) = default;
};

/// Records this server as the owner, or that it is not confirmed. `table`: that of the record.
/// Called before a session draws IDs that need no number.
void own_mark(Relation table);

/// The same, and ensures that no other server may generate equal IDs. `number`: the one in the IDs,
/// read with `membership`; nothing if they do not contain it. Records a number that applies to the
/// database. Raises 55000.
void check_confirmed(Relation table, const std::optional<ServerNumber>& number,
                     const citus::Membership& membership);

/// Why check_confirmed() would raise 55000, as a clause; null if it would not. Also works during
/// recovery.
const char* find_doubt(Relation table, const ServerNumber& number,
                       const citus::Membership& membership);

/// Records that no other server generates IDs with the number of this one, or with its generators.
/// `number`: this session's; nothing if it has none. Raises 55000 if the last number was
/// configured, and this one does not apply to the database.
void confirm_owner(Relation table, const std::optional<ServerNumber>& number,
                   const citus::Membership& membership);

}  // namespace snowdrift
