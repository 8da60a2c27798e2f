// Chunks: the shared memory that the slots are in, and the locks that protect it. slots.hpp finds
// and allocates slots in it.
#pragma once

#include "pg/support/postgres.hpp"

#include <atomic>
#include <cstdint>

extern "C" {
#include "storage/dsm.h"
#include "storage/lwlock.h"
}

namespace snowdrift::slots {

/// The version of the structure of the shared memory. Increment it in a release that changes Root,
/// Slot, or the meaning of a state or key. Sessions of libraries with the same version share the
/// memory, and those of an older version stop once a newer one is in use: see mark_protocol.hpp.
inline constexpr int32_t structure_version = 1;

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

/// Slots in one segment of dynamic shared memory.
struct Chunk {
    dsm_handle handle;
    uint32_t slots;
};
inline constexpr uint32_t max_chunks = 12;

/// The chunks of all slots. Lock protects them.
struct Root {
    std::atomic<uint64_t> allocations = 0;  ///< number of slots allocated since the server started
    uint32_t chunk_count = 0;
    Chunk chunks[max_chunks]{};
};
static_assert(sizeof(Root) == 112, "another size is another structure_version");

/// The root. Precondition: the caller holds Lock.
Root& root();

/// Adds a chunk after the first `known` ones, unless another session has done so. Raises 53200 if
/// the server has no free shared memory.
void add_chunk(uint32_t known);

/// Reserves shared memory for the root. Called if the library is preloaded. Otherwise, the first
/// use takes the memory from the server's spare shared memory.
void reserve();

}  // namespace snowdrift::slots
