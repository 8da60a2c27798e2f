// Slots: the shared memory that holds the generators' states and the mark. This file finds,
// allocates and releases slots in the memory of chunks.hpp. src/protocol interprets the states;
// slot_release.hpp and make_room.hpp decide when a slot is released.
#pragma once

#include <climits>
#include <cstdint>
#include <span>

#include "pg/mark/chunks.hpp"
#include "pg/mark/slot.hpp"

namespace snowdrift::slots {

/// The slot of the key; null if there is none. Reads no catalogs.
Slot* lookup(const SlotKey& key);

/// The value of `max_named` for attach() that sets no limit.
inline constexpr int unlimited = INT_MAX;

/// Returns a cleared slot for the key; null if no slot is free, if the key is that of a named
/// generator and its database has `max_named` slots for named generators, or if the key has a slot.
/// Precondition: the caller holds Lock exclusively.
Slot* allocate(const SlotKey& key, int max_named);

/// Makes an allocated slot visible to all sessions. Precondition: the caller has held Lock since
/// allocate().
void publish(Slot& slot);

/// Returns the slot of the key. If there is none, allocates one; `initialize(Slot&)` initializes
/// its zeroed state before other sessions can see it. Null if allocate() fails: occupancy() tells
/// why.
template <typename Initialize>
Slot* attach(const SlotKey& key, int max_named, Initialize initialize) {
    if (Slot* const slot = lookup(key)) return slot;
    const Lock lock{LW_EXCLUSIVE};
    Slot* const slot = allocate(key, max_named);
    if (slot == nullptr) return nullptr;
    initialize(*slot);
    publish(*slot);
    return slot;
}

/// The slots that are available to a key.
struct Occupancy {
    bool has_slot;          ///< the key has a slot
    Slot* free;             ///< a slot that was free; null if there was none
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

/// All allocated slots of all databases, in the current memory context.
std::span<const Allocated> list();

/// Maps the slots that this process has not mapped, until it ends.
void map_chunks();

/// Calls `visit(slot, context)` for each mapped slot of this database's generators, while no slot
/// is allocated or released. `visit` must not raise errors.
void visit_generators(void (*visit)(const Slot& slot, void* context), void* context);

/// Clears the states of this database's generators.
void clear_generators();

}  // namespace snowdrift::slots
