// The generators that users create: their definitions in the table snowdrift.generator, and the
// locks that keep one from being dropped while it is in use.
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

/// A row of snowdrift.generator. A place that is not given is the server's: snowdrift.node.
struct Definition {
    Oid table;    ///< the table that contains the row
    uint32_t id;  ///< from a sequence
    GeneratorKind kind;
    bool is_uncommitted;                 ///< this transaction, which isn't over, has created it
    SnowflakeLayout layout;              ///< of a Snowflake generator
    std::optional<uint32_t> datacenter;  ///< of a Snowflake generator
    std::optional<uint32_t> worker;      ///< of a Snowflake generator
    std::optional<uint32_t> partition;   ///< of a sno generator
    uint32_t sequence_min;
    uint32_t sequence_max;

    /// Datacenter and worker of a Snowflake generator in one; nothing where it has neither.
    std::optional<uint32_t> node() const {
        if (!datacenter && !worker) return std::nullopt;
        return datacenter.value_or(0) << layout.worker_bits | worker.value_or(0);
    }

    void set_node(uint32_t node) {
        datacenter = node >> layout.worker_bits;
        worker = node & layout.max_worker();
    }

    /// The key of the slot that has the generator's state.
    slots::SlotKey slot_key() const {
        const bool is_sno = kind == GeneratorKind::sno;
        return {MyDatabaseId, is_sno ? slots::Kind::sno : slots::Kind::snowflake,
                table,        id,
                sequence_min, sequence_max,
                layout};
    }
};

namespace definitions {

/// How long a generator's name may be, in bytes.
inline constexpr size_t max_name_length = NAMEDATALEN - 1;

/// Counts the changes of the table that this session has come to know: what was read under
/// another number must be read again.
extern uint64_t version;

/// Ensures that a generator's bounds are in order and leave room for a few IDs in each tick: 22023.
void check_bounds(int64_t sequence_min, int64_t sequence_max);

/// The definition of a generator, if there is one of that name. Raises 22003 or 22023 if it is
/// invalid, which only a row that was inserted by hand can be.
std::optional<Definition> look_up(const char* name);

/// The same. Raises 42704 if there is none.
Definition find(const char* name);

/// The same, and blocks dropping the generator until the transaction ends. A drop waits for all
/// transactions that hold the generator, as DROP SEQUENCE does.
Definition hold(const char* name);

/// The same for a generator whose definition is known.
void hold(Oid table, uint32_t id);

/// Creates the generator of that name. Ignores the definition's table and id, which are assigned on
/// insertion. Raises 42710 if there is one already, 42602 if the name is invalid.
void insert(const char* name, const Definition& definition);

/// Drops the generator of that name. Waits for the transactions that have drawn from it, and blocks
/// others until this transaction ends. Raises 42704 if there is none.
void remove(const char* name);

/// Lets all sessions read the table again.
void invalidate(Relation table);

/// Whether a generator has that id in that table, or will have it when a transaction commits that
/// is open now. Reads the table.
bool exists(Oid table, uint32_t id);

}  // namespace definitions
}  // namespace snowdrift
