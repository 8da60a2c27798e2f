// The generators' states in shared memory: their location, keys and lookup. src/core defines what a
// state means; session_slot.cpp decides when a slot is freed.
#pragma once

#include "pg/support/postgres.hpp"

#include <atomic>
#include <cstdint>
#include <new>

extern "C" {
#include "storage/spin.h"
}

#include "core/sno_generator.hpp"
#include "core/ulid_generator.hpp"
#include "snowdrift/snowflake.hpp"

namespace snowdrift::slots {

/// What a slot stores the state of.
enum class Kind : uint32_t { mark, snowflake, ulid, sno };

/// Lookup key of a slot: identifies the generator and the parameters that its state depends on.
struct SlotKey {
    Oid database;
    Kind kind;
    Oid definitions = InvalidOid;  ///< the table that has the generator's definition, if one has
    uint32_t id = 0;               ///< of the generator, in that table
    uint32_t sequence_min = 0;
    uint32_t sequence_max = 0;
    SnowflakeLayout layout{};

    bool is_default() const { return !OidIsValid(definitions); }

    friend bool operator==(const SlotKey&, const SlotKey&) = default;
};

/// What a generator tells those who watch it. Off the state's cache line.
struct Statistics {
    std::atomic<uint32_t> waiting;   ///< calls that wait for the next tick now
    std::atomic<uint32_t> episodes;  ///< of overflow, in all: see overflow.hpp
    std::atomic<int64_t> began_ms;   ///< when the last episode began, in Unix milliseconds
    std::atomic<int64_t> last_ms;    ///< when a call last had to wait
};

/// One generator's state, on a cache line of its own so that generators don't slow each other.
struct alignas(64) Slot {
    /// Unique number of this claim; 0 while the slot is free. Check it before each use: the slot
    /// may belong to another generator by now.
    std::atomic<uint64_t> claim = 0;
    slock_t lock;  ///< for `ulid`; the others need none
    union {
        /// The word that each ID changes, first, and what else its generator keeps.
        std::atomic<uint64_t> words[6];
        UlidGenerator ulid;
        SnoState sno;
    };
    alignas(64) Statistics statistics{};
    SlotKey key{};  ///< under the lock of slots; of no meaning while the slot is free

    Slot() : words{} { SpinLockInit(&lock); }
};
static_assert(sizeof(Slot) == 128);
static_assert(std::atomic<uint64_t>::is_always_lock_free, "states are shared between processes");

/// How many generators that users create can have a slot in one database, so that no database uses
/// up the others' memory.
inline constexpr int max_named_per_database = 1000;

/// Holds the lock under which slots are claimed and changed in more than one place. Nothing that
/// can raise an error may happen while it is held.
class Lock {
 public:
    explicit Lock(bool shared = false);
    ~Lock();
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
};

/// The slot of that key; null where nobody has attached it.
Slot* lookup(const SlotKey& key);

/// A free slot made fresh for the key; null where none is free, or the key's database has used up
/// its share, or the key has a slot meanwhile. Precondition: the lock is held.
Slot* claim(const SlotKey& key);

/// Makes a claimed slot visible to all. Precondition: the lock is still held.
void publish(Slot& slot);

/// The slot of that key. If there is none, claims one, and `begin(Slot&)` initializes its zeroed
/// state before it becomes visible. Null if no slot is free or the share of the key's database is
/// used up: call make_room() then.
template <typename Begin>
Slot* attach(const SlotKey& key, Begin begin) {
    if (Slot* const slot = lookup(key)) return slot;
    const Lock lock;
    Slot* const slot = claim(key);
    if (slot == nullptr) return nullptr;
    begin(*slot);
    publish(*slot);
    return slot;
}

/// Frees the slots of dropped databases if no slot is free, and makes the memory larger if there
/// are none. False if the key's database has used up its share. Raises 53200 if the server has no
/// shared memory to spare. Reads the catalogs.
bool make_room(const SlotKey& key);

/// Frees the slot if it is still the one that was claimed by that number.
void release(Slot& slot, uint64_t claim);

/// A slot as it was at one time.
struct Claimed {
    Slot* slot;
    uint64_t claim;
    SlotKey key;
};

/// All slots that are not free, in `count` elements of an array that the caller may pfree.
Claimed* list(size_t& count);

/// Makes the states of this database's generators fresh.
void reset_generators();

/// Reserves the shared memory. Called when the library is being preloaded; without it, the first
/// call finds room in what the server has to spare.
void reserve();

}  // namespace snowdrift::slots
