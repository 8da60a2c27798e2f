// Slots: the shared memory that holds the generators' states and the mark. This file knows where
// slots are, how they are found and allocated. It knows nothing about what a state means (src/core,
// durability/mark.cpp) or when a slot is released (generators/).
#pragma once

#include "pg/support/postgres.hpp"

#include <atomic>
#include <climits>
#include <cstdint>
#include <new>

extern "C" {
#include "storage/spin.h"
}

#include "core/sno_generator.hpp"
#include "core/ulid_generator.hpp"
#include "snowdrift/snowflake.hpp"

namespace snowdrift::slots {

/// What a slot holds the state of.
enum class Kind : uint32_t { mark, snowflake, ulid, sno };

/// Lookup key of a slot: identifies the generator and the parameters that its state depends on.
struct SlotKey {
    Oid database;
    Kind kind;
    Oid definitions = InvalidOid;  ///< table of the generator's definition; a default one has none
    uint32_t id = 0;               ///< the generator's id in that table
    uint32_t sequence_min = 0;
    uint32_t sequence_max = 0;
    SnowflakeLayout layout{};

    /// Whether this is the key of the mark, or of a default generator.
    bool is_default() const { return !OidIsValid(definitions); }

    friend bool operator==(const SlotKey&, const SlotKey&) = default;
};

/// State of the mark: see durability/mark.cpp.
struct MarkState {
    std::atomic<uint64_t> word;      ///< mark::Word
    std::atomic<uint64_t> file;      ///< the file on disk that the word describes
    std::atomic<uint64_t> floor_ms;  ///< mark::Floors::any_state_ms, while the word's tag stays
    std::atomic<uint64_t> fresh_ms;  ///< mark::Floors::fresh_state_ms
    std::atomic<uint64_t> advancing_from;  ///< the word from which a session advances ahead of need
};

/// State of a Snowflake generator.
struct SnowflakeState {
    std::atomic<uint64_t> word;         ///< see core/snowflake_generator.hpp
    std::atomic<uint64_t> regressions;  ///< see generators/regressions.hpp
};

/// Statistics of a generator, on a cache line other than the state's.
struct Statistics {
    std::atomic<uint32_t> waiting;   ///< calls that wait now because a sequence is used up
    std::atomic<uint32_t> episodes;  ///< of overflow, in total: see generators/overflow.hpp
    std::atomic<int64_t> began_ms;   ///< start of the last episode, in Unix milliseconds
    std::atomic<int64_t> last_ms;    ///< when a call last had to wait, in Unix milliseconds
};

/// One state, on a cache line of its own so that generators don't slow each other down.
struct alignas(64) Slot {
    /// Unique number of this allocation; 0 while the slot is free. Compare it before each use: the
    /// slot may have been allocated for another generator.
    std::atomic<uint64_t> allocation = 0;
    slock_t lock;  ///< protects `ulid`; the other states need none
    union {
        MarkState mark;
        SnowflakeState snowflake;
        UlidGenerator ulid;
        SnoState sno;
        std::atomic<uint64_t> words[6];  ///< any of them, for clearing
    };
    alignas(64) Statistics statistics{};
    SlotKey key{};  ///< protected by the lock below; meaningless while the slot is free

    Slot() : words{} { SpinLockInit(&lock); }
};
static_assert(sizeof(Slot) == 128);
static_assert(sizeof(Slot::ulid) <= sizeof(Slot::words) &&
              sizeof(Slot::mark) <= sizeof(Slot::words) &&
              sizeof(Slot::sno) <= sizeof(Slot::words));
static_assert(std::atomic<uint64_t>::is_always_lock_free, "states are shared between processes");

/// Holds the lock under which slots are allocated, and states changed in more than one place.
/// Nothing that can raise an error may happen while it is held.
class AllocationLock {
 public:
    AllocationLock();
    ~AllocationLock();
    AllocationLock(const AllocationLock&) = delete;
    AllocationLock& operator=(const AllocationLock&) = delete;
};

/// The slot of that key; null if there is none.
Slot* lookup(const SlotKey& key);

/// The maximum number of slots that a database may have for named generators.
inline constexpr int unlimited = INT_MAX;

/// A cleared slot for the key; null if no slot is free, if the key's database has `max_named` slots
/// for named generators, or if the key has a slot. Precondition: the lock is held.
Slot* allocate(const SlotKey& key, int max_named);

/// Makes an allocated slot visible to all sessions. Precondition: the lock is still held.
void publish(Slot& slot);

/// The slot of that key. If there is none, allocates one, and `initialize(Slot&)` initializes its
/// zeroed state before it becomes visible. Null if allocate() fails: see occupancy().
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

/// What a key would find at present.
struct Occupancy {
    bool has_slot;          ///< the key has a slot
    bool has_free_slot;     ///< there is a free slot
    int named_in_database;  ///< slots of the key's database for named generators
};
Occupancy occupancy(const SlotKey& key);

/// Adds memory for more slots. Raises 53200 if the server has none to spare.
void add_chunk();

/// Releases the slot if its allocation is still that one.
void release(Slot& slot, uint64_t allocation);

/// An allocated slot, copied at one time.
struct Allocated {
    Slot* slot;
    uint64_t allocation;
    SlotKey key;
};

/// Allocated slots, in the current memory context.
struct AllocatedSlots {
    Allocated* first;
    size_t count;

    const Allocated* begin() const { return first; }
    const Allocated* end() const { return first + count; }
};

/// All allocated slots.
AllocatedSlots list();

/// Clears the states of this database's generators.
void clear_generators();

/// Reserves the shared memory. Called when the library is preloaded; otherwise, the first call
/// takes it from the server's spare shared memory.
void reserve();

}  // namespace snowdrift::slots
