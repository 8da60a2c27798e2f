// The generators that users create: their definitions in the table snowdrift.generator, and each
// session's knowledge of them.
#pragma once

#include <optional>

#include "pg/postgres.hpp"
#include "snowdrift/snowflake.hpp"

namespace snowdrift {

enum class GeneratorKind : uint8_t { snowflake, sno };

/// A row of snowdrift.generator. A place that is not given is the server's: snowdrift.node.
struct Definition {
    uint32_t id;  ///< never used for another one
    GeneratorKind kind;
    SnowflakeLayout layout;             ///< of a Snowflake generator
    std::optional<uint32_t> node;       ///< of a Snowflake generator: datacenter and worker in one
    std::optional<uint16_t> partition;  ///< of a sno generator
    uint32_t sequence_min;
    uint32_t sequence_max;
};

namespace definitions {

/// How long a generator's name may be, in bytes.
inline constexpr size_t max_name_length = NAMEDATALEN - 1;

/// Counts the changes of the table that this session has come to know: what was read under
/// another number must be read again.
extern uint64_t version;

/// Ensures that a generator's bounds leave room for a few IDs in each tick: 22023.
void check_bounds(int64_t sequence_min, int64_t sequence_max);

/// The definition of a generator, if there is one of that name.
std::optional<Definition> look_up(const char* name);

/// The same. Raises 42704 if there is none.
Definition find(const char* name);

/// The same, and keeps the generator from being dropped until the transaction ends.
Definition hold(const char* name);

/// Keeps the generator with that id from being dropped until the transaction ends, and learns of
/// those that were: `version` tells. A drop waits for all who drew, as DROP SEQUENCE does.
void share(uint32_t id);

/// Waits until nobody draws from the generator of that name, and keeps all others from it until the
/// transaction ends. Raises 42704 if there is none.
void seize(const char* name);

/// The table of definitions. Raises 42P01 if there is none.
Oid table();

/// Whether a generator still has that id, or will have it when a transaction commits that is open
/// now. Reads the table.
bool exists(uint32_t id);

}  // namespace definitions
}  // namespace snowdrift
