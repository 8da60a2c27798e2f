// The generators' states in shared memory: where they lie, whose they are, and how a session comes
// to them. What a state means belongs to its generator in src/core; when a slot is given up, to the
// sessions in session_slot.cpp.
#pragma once

#include "pg/postgres.hpp"

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

/// What a slot's state is of.
enum class Kind : uint32_t { mark, snowflake, ulid, sno };

/// Whose a slot is: all that makes its state what it is.
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
    /// A number that no other claim of a slot has; 0 while this one is free. Who uses the state
    /// looks at it each time: the slot may have been given to another generator.
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

/// How many generators that users create have a slot in one database: so none takes the memory of
/// the others.
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

/// The slot of that key. Where there is none, one is claimed, and `begin(Slot&)` makes its state,
/// which is all zero, what it is to be before anyone else sees it. Null where that needs room
/// first, which make_room() makes.
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

/// Makes the memory larger where no slot is free. False where the key's database has used up its
/// share. Raises 53200 when the server has no shared memory to spare.
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
