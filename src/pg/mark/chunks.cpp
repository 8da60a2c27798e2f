#include "pg/mark/chunks.hpp"

#include <new>

#include "pg/mark/slot.hpp"

extern "C" {
#include "storage/ipc.h"
#include "storage/shmem.h"
}

namespace snowdrift::slots {

namespace {

// The first chunk. Each further chunk is twice as large as the previous one, and all remain until
// the server stops.
constexpr uint32_t first_chunk_slots = 256;

Root* mapped_root = nullptr;

shmem_request_hook_type next_shmem_request_hook = nullptr;

void request_shmem() {
    if (next_shmem_request_hook) next_shmem_request_hook();
    RequestAddinShmemSpace(sizeof(Root));
}

}  // namespace

// PostgreSQL documents this lock as the one for "an extension's space allocation in shared memory".
// The server acquires it to allocate the root, so map the root first.
Lock::Lock(LWLockMode mode) {
    if (mapped_root == nullptr) {
        const char* const name = psprintf("snowdrift %d", structure_version);
        mapped_root = static_cast<Root*>(
            named_memory(name, sizeof(Root), [](void* memory) { new (memory) Root{}; }));
    }
    LWLockAcquire(AddinShmemInitLock, mode);
}

Lock::~Lock() { LWLockRelease(AddinShmemInitLock); }

Root& root() {
    Assert(LWLockHeldByMe(AddinShmemInitLock));
    return *mapped_root;
}

void add_chunk(uint32_t known) {
    if (known == max_chunks)
        ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of shared memory"),
                        errdetail("This server has reached its maximum number of ID generators.")));
    const uint32_t count = first_chunk_slots << known;
    dsm_segment* const segment = dsm_create(count * sizeof(Slot), 0);
    const dsm_handle handle = dsm_segment_handle(segment);
    dsm_pin_segment(segment);
    new (dsm_segment_address(segment)) Slot[count];
    bool is_added;
    {
        const Lock lock{LW_EXCLUSIVE};
        is_added = root().chunk_count == known;
        if (is_added) root().chunks[root().chunk_count++] = {handle, count};
    }
    if (!is_added) dsm_unpin_segment(handle);
    dsm_detach(segment);
}

void reserve() {
    if (has_named_segments) return;
    next_shmem_request_hook = shmem_request_hook;
    shmem_request_hook = request_shmem;
}

}  // namespace snowdrift::slots
