// The generators' states in shared memory: where they lie, how a session comes to them, and how
// they are reserved. What a state means belongs to its generator in src/core.
#pragma once

#include <atomic>
#include <cstdint>

namespace snowdrift::slots {

/// One generator's state, on a cache line of its own so that generators don't slow each other.
struct alignas(64) Slot {
    std::atomic<uint64_t> word;  ///< the generator's state; 0 in a fresh slot
    uint64_t owner;              ///< whose it is, as attach() keys it; 0 while it is free
};
static_assert(sizeof(Slot) == 64);
static_assert(std::atomic<uint64_t>::is_always_lock_free, "states are shared between processes");

/// The generator that every database has without creating one.
inline constexpr uint32_t default_generator = 0;

/// The slot of this database's generator `generator`, for as long as the server runs.
///
/// Raises 25006 during recovery, when IDs can't be generated; 53400 when all slots are taken;
/// 53200 when the server has no shared memory to spare.
Slot* attach(uint32_t generator);

/// Reserves the shared memory. Called when the library is being preloaded; without it, attach()
/// finds room in what the server has to spare.
void reserve();

}  // namespace snowdrift::slots
