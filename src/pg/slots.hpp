// The generators' states in shared memory: where they lie, how a session comes to them, and how
// they are reserved. What a state means belongs to its generator in src/core.
#pragma once

#include "pg/postgres.hpp"

#include <atomic>
#include <cstdint>

extern "C" {
#include "storage/spin.h"
}

#include "core/sno_generator.hpp"
#include "core/ulid_generator.hpp"

namespace snowdrift::slots {

/// What a generator tells those who watch it. Off the state's cache line.
struct Statistics {
    std::atomic<uint32_t> waiting;   ///< calls that wait for the next tick now
    std::atomic<uint32_t> episodes;  ///< of overflow, in all: see overflow.hpp
    std::atomic<int64_t> began_ms;   ///< when the last episode began, in Unix milliseconds
    std::atomic<int64_t> last_ms;    ///< when a call last had to wait
};

/// One generator's state, on a cache line of its own so that generators don't slow each other.
struct alignas(64) Slot {
    std::atomic<uint64_t> owner = 0;   ///< whose it is, as attach() keys it; 0 while it is free
    std::atomic<Oid> definitions = 0;  ///< the table that has the owner's definition, if any does
    slock_t lock;                      ///< for `ulid`; the others need none
    union {
        /// The word that each ID changes, first, and what else its generator keeps.
        std::atomic<uint64_t> words[6];
        UlidGenerator ulid;
        SnoState sno;
    };
    alignas(64) Statistics statistics{};

    Slot() : words{} { SpinLockInit(&lock); }
};
static_assert(sizeof(Slot) == 128);
static_assert(std::atomic<uint64_t>::is_always_lock_free, "states are shared between processes");

/// What a slot of a database is for.
enum Purpose : uint32_t {
    default_snowflake,  ///< next_snowflake()
    ulid,               ///< next_ulid()
    default_sno,        ///< next_sno()
    first_named = 16,   ///< the generators that users create, by their id: see named()
    mark = UINT32_MAX,  ///< the mark: see mark.hpp
};

/// The purpose of the generator with this id.
constexpr Purpose named(uint32_t id) { return static_cast<Purpose>(first_named + id); }

/// Makes a fresh state, which is all zero, begin after the Unix millisecond `mark`.
using Begin = void (*)(Slot& slot, int64_t mark, const void* generator);

/// The slot of this database for `purpose`, for as long as owner and definitions stay what they are
/// then. Where it is fresh, `begin` is called with `generator` before anyone else sees it.
///
/// When all slots are taken, those of dropped databases, and of this one's dropped generators,
/// come free. Raises 25006 during recovery, when IDs can't be generated; 53400 when none came
/// free; 53200 when the server has no shared memory to spare.
Slot* attach(Purpose purpose, Begin begin, int64_t mark, const void* generator);

/// The slot of this database for `purpose`, to look at; null where nobody has attached it.
Slot* peek(Purpose purpose);

/// Makes the states of this database's generators fresh.
void reset_generators();

/// Holds the lock under which slots are claimed and changed in more than one place. Nothing that
/// can raise an error may happen while it is held.
class Lock {
 public:
    Lock();
    ~Lock();
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
};

/// Reserves the shared memory. Called when the library is being preloaded; without it, attach()
/// finds room in what the server has to spare.
void reserve();

}  // namespace snowdrift::slots
