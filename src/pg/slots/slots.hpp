// Slots: the shared memory of the generators' states and of the mark. slot.hpp has the form of a
// slot; this file finds, allocates and releases them.
//
// The library must work without being preloaded, so its first session creates the root: from
// PostgreSQL 17 on in a named segment, before that in the server's spare shared memory. The slots
// are in dynamic shared memory. Nothing here survives a restart; what must survive is in the
// record.
//
// The rule: a slot belongs to one generator, and its key says which one: the database, the table of
// definitions, the generator's id, kind and layout, and the bounds of its sequence. If a generator
// has the key of one that was dropped, named/definitions.hpp advances the state first. A slot that
// is allocated gets a number that no slot had before, with which a session notices that its slot
// was released earlier.
//
// What can go wrong: a slot is released while a session draws from it, or a generator that is
// created later starts before the last IDs of one that is gone. Locks exclude the first: a slot is
// released only when no other transaction holds its generator's lock (named/generator_lock.hpp).
// The floor of fresh states excludes the second: callers raise it before they release a slot
// (states/advance_state.hpp). This is a part of sentence 2 of the proof in docs/guarantees.md.
//
// Sessions of several versions of the library can be open. Those whose structure is the same share
// this memory, the others have memory of their own. Once a newer structure is in use, the older
// sessions stop (protocol/mark_protocol.hpp).
#pragma once

#include <cstdint>
#include <new>
#include <span>

#include "pg/slots/slot.hpp"
#include "pg/support/postgres.hpp"

extern "C" {
#include "storage/lwlock.h"
}

namespace snowdrift::slots {

/// The version of the structure of the shared memory. Increment it in a release that changes Root,
/// Slot, or the meaning of a state or key. Sessions of libraries with the same version share the
/// memory, and those of an older version stop once a newer one is in use: see mark_protocol.hpp.
inline constexpr int32_t structure_version = 2;

/// The shared memory `name` of libraries with this structure, which holds a Root. Creates it if it
/// does not exist. Raises 53200 if the server has no free shared memory.
template <typename Root>
Root* map_root(const char* name) {
    return static_cast<Root*>(named_memory(psprintf("%s %d", name, structure_version), sizeof(Root),
                                           [](void* memory) { new (memory) Root{}; }));
}

/// The maximum number of slots for named generators per database. It prevents one database from
/// using up the shared memory of the others.
inline constexpr int max_named_generators = 1000;

/// Holds the lock of the slots: LW_EXCLUSIVE for allocation, release, and changes of several words
/// of a state; LW_SHARED for searches. Code that holds it must not raise errors. The first lock of
/// a session maps the root, and raises 53200 if the server has no free shared memory.
class Lock {
 public:
    explicit Lock(LWLockMode mode);
    ~Lock();
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
};

/// The slot of the key; null if there is none. Reads no catalogs.
Slot* lookup(const SlotKey& key);

/// Returns a cleared slot for the key; null if no slot is free, if the key is that of a named
/// generator and its database has max_named_generators slots, or if the key has a slot.
/// Precondition: the caller holds Lock exclusively.
Slot* allocate(const SlotKey& key);

/// Makes an allocated slot visible to all sessions. Precondition: the caller has held Lock since
/// allocate().
void make_visible(Slot& slot);

/// Returns the slot of the key. If there is none, allocates one; `initialize(Slot&)` initializes
/// its zeroed state before other sessions can see it. Null if allocate() fails: occupancy() tells
/// why.
template <typename Initialize>
Slot* attach(const SlotKey& key, Initialize initialize) {
    if (Slot* const slot = lookup(key)) return slot;
    const Lock lock{LW_EXCLUSIVE};
    Slot* const slot = allocate(key);
    if (slot == nullptr) return nullptr;
    initialize(*slot);
    make_visible(*slot);
    return slot;
}

/// The slots that are available to a key.
struct Occupancy {
    bool has_slot;          ///< the key has a slot
    Slot* free;             ///< a slot that was free; null if there was none
    int named_in_database;  ///< slots of the key's database for named generators
};
Occupancy occupancy(const SlotKey& key);

/// Ensures that a slot is free, or that the key has a slot: releases the slots of dropped
/// databases, or adds memory if there are none. Reads the catalogs. Raises 53200 if the server has
/// no free shared memory.
void make_room(const SlotKey& key);

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
void visit_generators(void (*visit)(Slot& slot, void* context), void* context);

/// Clears the states of this database's generators.
void clear_generators();

/// Reserves shared memory for the root, in a shmem_request_hook. Without it, before PostgreSQL 17,
/// the first use takes the memory from the server's spare shared memory.
void reserve();

}  // namespace snowdrift::slots
