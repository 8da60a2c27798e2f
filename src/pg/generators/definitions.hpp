// The definitions of named generators, in the table snowdrift.generator, and the locks that block
// dropping a generator in use.
#pragma once

#include <optional>

#include "pg/support/postgres.hpp"

extern "C" {
#include "utils/relcache.h"
}

#include "pg/memory/slots.hpp"
#include "snowdrift/snowflake.hpp"

namespace snowdrift {

enum class GeneratorKind : uint8_t { snowflake, sno };

/// A row of snowdrift.generator. Without datacenter and worker, or partition, the generator has the
/// server's node.
struct Definition {
    Oid table;    ///< the table that contains the row
    uint32_t id;  ///< from a sequence
    GeneratorKind kind;
    bool is_uncommitted;                 ///< created by the present transaction
    SnowflakeLayout layout;              ///< of a Snowflake generator
    std::optional<uint32_t> datacenter;  ///< of a Snowflake generator
    std::optional<uint32_t> worker;      ///< of a Snowflake generator
    std::optional<uint32_t> partition;   ///< of a sno generator
    uint32_t sequence_min;
    uint32_t sequence_max;

    /// The node of a Snowflake generator: datacenter and worker together; nothing if it has
    /// neither.
    std::optional<uint32_t> node() const {
        if (!datacenter && !worker) return std::nullopt;
        return datacenter.value_or(0) << layout.worker_bits | worker.value_or(0);
    }

    void set_node(uint32_t node) {
        datacenter = node >> layout.worker_bits;
        worker = node & layout.max_worker();
    }

    /// The key of the slot that holds the generator's state.
    slots::SlotKey slot_key() const {
        const bool is_sno = kind == GeneratorKind::sno;
        return {MyDatabaseId, is_sno ? slots::Kind::sno : slots::Kind::snowflake,
                table,        id,
                sequence_min, sequence_max,
                layout};
    }
};

namespace definitions {

/// The maximum length of a generator's name, in bytes.
inline constexpr size_t max_name_length = NAMEDATALEN - 1;

/// The number of changes of the table that this session has noticed. What was read under another
/// number must be read again.
extern uint64_t version;

/// Ensures that a generator's bounds are in order and leave a few IDs for each time unit: 22023.
void check_bounds(int64_t sequence_min, int64_t sequence_max);

/// The definition of the generator of that name, if there is one. Raises 22003 or 22023 if it is
/// invalid, which is possible only for a row inserted by hand.
std::optional<Definition> lookup(const char* name);

/// The same, and locks the generator: dropping it waits until the transaction ends, as DROP
/// SEQUENCE does. Raises 42704 if there is no such generator.
Definition lock(const char* name);

/// Locks a generator whose definition is known.
void lock(Oid table, uint32_t id);

/// Raises 42704: there is no generator of that name.
[[noreturn]] void report_undefined(const char* name);

/// Creates the generator of that name. Assigns the table and the id; those of `definition` are
/// ignored. Raises 42710 if there is one already, 42602 if the name is invalid.
void insert(const char* name, const Definition& definition);

/// Drops the generator of that name. Waits for the transactions that have drawn from it, and blocks
/// others until this transaction ends. Raises 42704 if there is no such generator.
void remove(const char* name);

/// Makes all sessions read the table again.
void invalidate(Relation table);

/// Whether the table has a generator of that id, or will have one when an open transaction commits.
/// Reads the table.
bool exists(Oid table, uint32_t id);

}  // namespace definitions
}  // namespace snowdrift
