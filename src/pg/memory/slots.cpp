#include "pg/memory/slots.hpp"

extern "C" {
#include "storage/dsm.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#if PG_VERSION_NUM >= 170000
#include "storage/dsm_registry.h"
#endif
}

namespace snowdrift::slots {
namespace {

// Slots are stored in chunks, each twice as large as the previous one. The first chunk is in named
// shared memory. Further chunks are added when all slots are allocated, and remain until the server
// stops.
constexpr int max_chunks = 12;
constexpr size_t first_chunk_slots = 256;

constexpr size_t slots_of_chunk(int chunk) { return first_chunk_slots << chunk; }

struct Root {
    std::atomic<uint64_t> allocations = 0;      // number of allocations since the server started
    std::atomic<int> chunks = 1;                // number of chunks
    dsm_handle handles[max_chunks]{};           // handles of the chunks after the first
    alignas(64) Slot slots[first_chunk_slots];  // the first chunk
};
static_assert(sizeof(Root) < size_t{64} * 1024, "must fit a default server's spare memory");

// The name contains the version of Root: a new library in a running server must not use the memory
// of an old one.
constexpr const char* segment_name = "snowdrift slots 2";

void initialize_root(void* memory) { new (memory) Root{}; }

#if PG_VERSION_NUM >= 190000

Root* map_root() {
    bool found;
    const auto initialize = [](void* memory, void*) { initialize_root(memory); };
    return static_cast<Root*>(
        GetNamedDSMSegment(segment_name, sizeof(Root), initialize, &found, nullptr));
}

#elif PG_VERSION_NUM >= 170000

Root* map_root() {
    bool found;
    return static_cast<Root*>(
        GetNamedDSMSegment(segment_name, sizeof(Root), initialize_root, &found));
}

#else

shmem_request_hook_type next_shmem_request_hook = nullptr;

void request_shmem() {
    if (next_shmem_request_hook) next_shmem_request_hook();
    RequestAddinShmemSpace(sizeof(Root));
}

Root* map_root() {
    bool found;
    LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
    void* memory = ShmemInitStruct(segment_name, sizeof(Root), &found);
    if (!found) initialize_root(memory);
    LWLockRelease(AddinShmemInitLock);
    return static_cast<Root*>(memory);
}

#endif

/// Holds the lock that protects a search for slots.
class SearchLock {
 public:
    SearchLock() { LWLockAcquire(AddinShmemInitLock, LW_SHARED); }
    ~SearchLock() { LWLockRelease(AddinShmemInitLock); }
    SearchLock(const SearchLock&) = delete;
    SearchLock& operator=(const SearchLock&) = delete;
};

Root* root = nullptr;
Slot* mapped[max_chunks];  // chunks mapped in this process
int mapped_count = 0;

/// Pin a chunk to this process until the process ends.
Slot* pin(dsm_segment* segment) {
    dsm_pin_mapping(segment);
    return static_cast<Slot*>(dsm_segment_address(segment));
}

/// Map the chunks that this process has not mapped.
void map_chunks() {
    if (root == nullptr) {
        Root* const found = map_root();
        mapped[0] = found->slots;
        mapped_count = 1;
        root = found;
    }
    while (mapped_count < root->chunks) {
        dsm_segment* const segment = dsm_attach(root->handles[mapped_count]);
        if (segment == nullptr)
            elog(ERROR, "could not attach the dynamic shared memory segment of ID generators");
        mapped[mapped_count++] = pin(segment);
    }
}

/// Calls visit(Slot&) for each mapped slot until it returns true. Returns that slot, or null.
template <typename Visit>
Slot* find_if(Visit visit) {
    for (int chunk = 0; chunk < mapped_count; ++chunk)
        for (Slot *slot = mapped[chunk], *end = slot + slots_of_chunk(chunk); slot != end; ++slot)
            if (visit(*slot)) return slot;
    return nullptr;
}

bool is_free(const Slot& slot) { return slot.allocation.load(std::memory_order_relaxed) == 0; }

/// The result of a search of the mapped chunks for a key.
struct Search {
    bool has_slot = false;
    Slot* free = nullptr;
    int named_in_database = 0;
};

Search search(const SlotKey& key) {
    Search found;
    (void)find_if([&](Slot& slot) {
        if (is_free(slot)) {
            if (found.free == nullptr) found.free = &slot;
        } else if (slot.key == key) {
            found.has_slot = true;
        } else if (slot.key.database == key.database && !slot.key.is_default()) {
            ++found.named_in_database;
        }
        return found.has_slot;
    });
    return found;
}

void clear(Slot& slot) {
    SpinLockAcquire(&slot.lock);
    for (auto& word : slot.words) word = 0;
    SpinLockRelease(&slot.lock);
}

}  // namespace

// PostgreSQL documents this lock as the one for "an extension's space allocation in shared memory".
AllocationLock::AllocationLock() { LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE); }
AllocationLock::~AllocationLock() { LWLockRelease(AddinShmemInitLock); }

Slot* lookup(const SlotKey& key) {
    map_chunks();
    const SearchLock lock;
    return find_if([&](const Slot& slot) { return !is_free(slot) && slot.key == key; });
}

Slot* allocate(const SlotKey& key, int max_named) {
    // Another session may have allocated the slot, even in a chunk that this process has not
    // mapped.
    if (mapped_count < root->chunks) return nullptr;
    const Search found = search(key);
    if (found.has_slot || found.free == nullptr) return nullptr;
    if (!key.is_default() && found.named_in_database >= max_named) return nullptr;
    clear(*found.free);
    new (&found.free->statistics) Statistics{};
    found.free->key = key;
    return found.free;
}

void publish(Slot& slot) { slot.allocation = ++root->allocations; }

Occupancy occupancy(const SlotKey& key) {
    map_chunks();
    const SearchLock lock;
    const Search found = search(key);
    return {found.has_slot, found.free != nullptr, found.named_in_database};
}

void add_chunk() {
    const int chunk = mapped_count;
    if (chunk == max_chunks)
        ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of shared memory"),
                        errdetail("This server has reached its maximum number of ID generators.")));
    const size_t count = slots_of_chunk(chunk);
    dsm_segment* const segment = dsm_create(count * sizeof(Slot), 0);
    const dsm_handle handle = dsm_segment_handle(segment);
    dsm_pin_segment(segment);
    new (dsm_segment_address(segment)) Slot[count];
    bool is_added = false;
    {
        const AllocationLock lock;
        if (root->chunks == chunk) {  // no other session has added a chunk
            root->handles[chunk] = handle;
            root->chunks = chunk + 1;
            is_added = true;
        }
    }
    if (is_added) {
        mapped[mapped_count++] = pin(segment);
    } else {
        dsm_unpin_segment(handle);
        dsm_detach(segment);
    }
}

void release(Slot& slot, uint64_t allocation) {
    const AllocationLock lock;
    if (slot.allocation == allocation) slot.allocation = 0;
}

AllocatedSlots list() {
    map_chunks();
    size_t capacity = 0;
    for (int chunk = 0; chunk < mapped_count; ++chunk) capacity += slots_of_chunk(chunk);
    AllocatedSlots all{static_cast<Allocated*>(palloc(capacity * sizeof(Allocated))), 0};
    const SearchLock lock;
    (void)find_if([&](Slot& slot) {
        if (!is_free(slot)) all.first[all.count++] = {&slot, slot.allocation, slot.key};
        return false;
    });
    return all;
}

void clear_generators() {
    map_chunks();
    const AllocationLock lock;
    (void)find_if([](Slot& slot) {
        if (!is_free(slot) && slot.key.database == MyDatabaseId && slot.key.kind != Kind::mark)
            clear(slot);
        return false;
    });
}

void reserve() {
#if PG_VERSION_NUM < 170000
    next_shmem_request_hook = shmem_request_hook;
    shmem_request_hook = request_shmem;
#endif
}

}  // namespace snowdrift::slots
