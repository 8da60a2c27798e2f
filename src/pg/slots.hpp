// The generators' states in shared memory: where they lie, how a session comes to them, and how
// they are reserved. What a state means belongs to its generator in src/core.
#pragma once

#include <atomic>
#include <cstdint>

namespace snowdrift::slots {

/// One generator's state, on a cache line of its own so that generators don't slow each other.
struct alignas(64) Slot {
    std::atomic<uint64_t> word;     ///< the state that each ID changes
    std::atomic<uint64_t> more[6];  ///< what else its generator keeps; 0 in a fresh slot
    uint64_t owner;                 ///< whose it is, as attach() keys it; 0 while it is free
};
static_assert(sizeof(Slot) == 64);
static_assert(std::atomic<uint64_t>::is_always_lock_free, "states are shared between processes");

/// What a slot of a database can be for: these, and later the generators that users create.
enum Purpose : uint32_t {
    default_snowflake = 0,  ///< next_snowflake()
    mark = UINT32_MAX,      ///< the mark: see mark.hpp
};

/// The slot of this database for `purpose`, for as long as the server runs. The first to attach
/// it sets its word to `fresh`.
///
/// Raises 25006 during recovery, when IDs can't be generated; 53400 when all slots are taken;
/// 53200 when the server has no shared memory to spare.
Slot* attach(uint32_t purpose, uint64_t fresh);

/// Makes the states of this database's generators fresh, with a word of 0.
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
