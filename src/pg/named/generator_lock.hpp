// The locks of named generators, which transactions hold until they end. They are locks of objects:
// a lock of the table snowdrift_tables.generator would let VACUUM FULL, which waits for it, block
// all sessions.
#pragma once

#include <cstdint>

#include "pg/support/postgres.hpp"

extern "C" {
#include "storage/lockdefs.h"
}

namespace snowdrift {

/// A generator: its row's table, and its id in that table.
struct GeneratorId {
    Oid table;
    uint32_t id;

    friend bool operator==(const GeneratorId&, const GeneratorId&) = default;
};

namespace generator_lock {

// A rollback of the subtransaction keeps the first two locks.

/// Blocks other transactions from dropping the generator until this one ends. Waits for
/// a transaction that has locked it exclusively.
void share(const GeneratorId& generator);

/// Waits until no other transaction has locked the generator, and then blocks others until this one
/// ends. While it waits, others can lock the generator, so the wait may be long.
void lock_exclusively(const GeneratorId& generator);

/// Whether this transaction has locked the generator, in this mode or a stronger one.
bool is_locked(const GeneratorId& generator, LOCKMODE mode);

/// Blocks other transactions until end(), or returns false if another one has locked the generator.
bool try_begin(const GeneratorId& generator);
void end(const GeneratorId& generator);

/// Blocks other transactions from creating a generator of this name until this one ends.
void lock_name(Oid table, const char* name);

}  // namespace generator_lock
}  // namespace snowdrift
