// Slots: the shared memory that holds the generators' states and the mark. This file finds,
// allocates and releases slots in the memory of chunks.hpp. src/protocol interprets the states;
// generators/ and make_room.hpp decide when a slot is released.
#pragma once

#include "pg/support/postgres.hpp"

#include <atomic>
#include <climits>
#include <cstdint>
#include <new>

extern "C" {
#include "storage/spin.h"
}

#include "pg/memory/chunks.hpp"
#include "protocol/generators.hpp"
#include "protocol/mark_state.hpp"
#include "snowdrift/snowflake.hpp"
#include "snowdrift/ulid.hpp"
#include "snowdrift/uuidv7.hpp"

namespace snowdrift::slots {

/// The kind of state in a slot.
enum class Kind : uint32_t { mark, snowflake, ulid, sno, uuidv7 };

/// Lookup key of a slot: identifies the generator and the parameters that its state depends on.
struct SlotKey {
    Oid database;
    Kind kind;
    Oid definitions = InvalidOid;  ///< table of the definition; InvalidOid for a default generator
    uint32_t id = 0;               ///< the generator's id in that table
    uint32_t sequence_min = 0;
    uint32_t sequence_max = 0;
    SnowflakeLayout layout{};

    /// Whether this is the key of the mark, or of a default generator.
    bool is_default() const { return !OidIsValid(definitions); }

    friend bool operator==(const SlotKey&, const SlotKey&) = default;
};

/// State of a Snowflake generator.
struct SnowflakeState {
    std::atomic<uint64_t> word;         ///< see core/snowflake_generator.hpp
    std::atomic<uint64_t> regressions;  ///< see generators/regressions.hpp
};

/// Statistics of a generator, on a separate cache line from the state.
struct Statistics {
    std::atomic<uint32_t> waiting;   ///< calls that are waiting for the clock
    std::atomic<uint32_t> episodes;  ///< number of overflow episodes: see generators/overflow.hpp
    std::atomic<int64_t> began_ms;   ///< start of the last episode, in Unix milliseconds
    std::atomic<int64_t> last_ms;    ///< when a sequence was last used up, in Unix milliseconds
};

/// One state, on its own cache line so that generators do not slow each other down.
struct alignas(64) Slot {
    /// Unique number of this allocation; 0 while the slot is free. Compare it before each use: the
    /// slot may have been allocated for another generator.
    std::atomic<uint64_t> allocation = 0;
    slock_t lock;  ///< protects `ulid` and `uuidv7`; the other states are lock-free
    std::atomic<uint32_t> is_logged = 0;  ///< whether node.cpp has logged a missing number
    union {
        MarkState mark;
        SnowflakeState snowflake;
        BlockGenerator<Ulid> ulid;
        BlockGenerator<Uuidv7> uuidv7;
        SnoState sno;
        std::atomic<uint64_t> words[6];  ///< any state, for clearing
    };
    alignas(64) Statistics statistics{};
    SlotKey key{};  ///< protected by AllocationLock; meaningless while the slot is free

    Slot() : words{} { SpinLockInit(&lock); }
};
static_assert(sizeof(Slot) == 128, "another size is another structure_version");
static_assert(sizeof(Slot::ulid) <= sizeof(Slot::words) &&
              sizeof(Slot::uuidv7) <= sizeof(Slot::words) &&
              sizeof(Slot::mark) <= sizeof(Slot::words) &&
              sizeof(Slot::sno) <= sizeof(Slot::words));
static_assert(std::atomic<uint64_t>::is_always_lock_free, "states are shared between processes");

/// The slot of the key; null if there is none. Reads no catalogs.
Slot* lookup(const SlotKey& key);

/// The value of `max_named` for attach() that sets no limit.
inline constexpr int unlimited = INT_MAX;

/// Returns a cleared slot for the key; null if no slot is free, if the key is that of a named
/// generator and its database has `max_named` slots for named generators, or if the key has a slot.
/// Precondition: the caller holds AllocationLock.
Slot* allocate(const SlotKey& key, int max_named);

/// Makes an allocated slot visible to all sessions. Precondition: the caller has held
/// AllocationLock since allocate().
void publish(Slot& slot);

/// Returns the slot of the key. If there is none, allocates one; `initialize(Slot&)` initializes
/// its zeroed state before other sessions can see it. Null if allocate() fails: occupancy() tells
/// why.
template <typename Initialize>
Slot* attach(const SlotKey& key, int max_named, Initialize initialize) {
    if (Slot* const slot = lookup(key)) return slot;
    const AllocationLock lock;
    Slot* const slot = allocate(key, max_named);
    if (slot == nullptr) return nullptr;
    initialize(*slot);
    publish(*slot);
    return slot;
}

/// The slots that are available to a key.
struct Occupancy {
    bool has_slot;          ///< the key has a slot
    bool has_free_slot;     ///< there is a free slot
    int named_in_database;  ///< slots of the key's database for named generators
};
Occupancy occupancy(const SlotKey& key);

/// Adds memory for more slots. Raises 53200 if the server has no free shared memory.
void grow();

/// Releases the slot if its current allocation is `allocation`.
void release(Slot& slot, uint64_t allocation);

/// An allocated slot, its allocation and its key at the time of list().
struct Allocated {
    Slot* slot;
    uint64_t allocation;
    SlotKey key;
};

/// An array of allocated slots, in the memory context of the caller of list().
struct AllocatedSlots {
    Allocated* first;
    size_t count;

    const Allocated* begin() const { return first; }
    const Allocated* end() const { return first + count; }
};

/// All allocated slots of all databases.
AllocatedSlots list();

/// Calls `visit(slot, context)` for each slot of this database's generators, while no slot is
/// allocated or released. `visit` must not raise errors.
void visit_generators(void (*visit)(const Slot& slot, void* context), void* context);

/// Clears the states of this database's generators.
void clear_generators();

}  // namespace snowdrift::slots
