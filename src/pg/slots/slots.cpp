#include "pg/slots/slots.hpp"

#include <new>
#include <optional>

extern "C" {
#include "storage/dsm.h"
#include "utils/inval.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
}

namespace snowdrift::slots {
namespace {

// ---- the memory

/// Slots in one segment of dynamic shared memory. Each chunk is twice as large as the previous one,
/// and all remain until the server stops.
struct Chunk {
    dsm_handle handle;
    uint32_t slots;
};
constexpr uint32_t max_chunks = 12;
constexpr uint32_t first_chunk_slots = 256;

/// The chunks of all slots. Lock protects them.
struct Root {
    std::atomic<uint64_t> allocations = 0;  ///< number of slots allocated since the server started
    uint32_t chunk_count = 0;
    Chunk chunks[max_chunks]{};
};
static_assert(sizeof(Root) == 112, "another size is another structure_version");

Root* mapped_root = nullptr;

/// The root. Precondition: the caller holds Lock.
Root& root() {
    Assert(LWLockHeldByMe(AddinShmemInitLock));
    return *mapped_root;
}

/// A chunk that this process has mapped.
struct MappedChunk {
    Slot* first;
    uint32_t slots;
};
MappedChunk mapped[max_chunks];
uint32_t mapped_count = 0;

/// The next chunk to map; nothing if this process has mapped all.
std::optional<Chunk> next_unmapped() {
    const Lock lock{LW_SHARED};
    if (mapped_count == root().chunk_count) return std::nullopt;
    return root().chunks[mapped_count];
}

/// Add a chunk after the mapped ones, unless another session has done so. Raises 53200 if the
/// server has no free shared memory.
void add_chunk() {
    if (mapped_count == max_chunks)
        ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of shared memory"),
                        errdetail("This server has reached its maximum number of ID generators.")));
    const uint32_t count = first_chunk_slots << mapped_count;
    dsm_segment* const segment = dsm_create(count * sizeof(Slot), 0);
    const dsm_handle handle = dsm_segment_handle(segment);
    dsm_pin_segment(segment);
    new (dsm_segment_address(segment)) Slot[count];
    bool is_added;
    {
        const Lock lock{LW_EXCLUSIVE};
        is_added = root().chunk_count == mapped_count;
        if (is_added) root().chunks[root().chunk_count++] = {handle, count};
    }
    if (!is_added) dsm_unpin_segment(handle);
    dsm_detach(segment);
}

// ---- the slots

/// Calls visit(Slot&) for each mapped slot until it returns true. Returns that slot, or null.
template <typename Visit>
Slot* find_if(Visit visit) {
    for (uint32_t chunk = 0; chunk < mapped_count; ++chunk) {
        const MappedChunk& slots = mapped[chunk];
        for (Slot* slot = slots.first; slot != slots.first + slots.slots; ++slot)
            if (visit(*slot)) return slot;
    }
    return nullptr;
}

bool is_free(const Slot& slot) { return slot.allocation.load(std::memory_order_relaxed) == 0; }

/// Whether the slot belongs to a generator of this database. Precondition: the caller holds Lock.
bool is_own_generator(const Slot& slot) {
    return !is_free(slot) && slot.key.database == MyDatabaseId && slot.key.kind != Kind::mark;
}

/// The result of a search of the mapped chunks. Precondition: the caller holds Lock.
Occupancy search(const SlotKey& key) {
    Occupancy found{};
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
    slot.returned.clear();
    SpinLockRelease(&slot.lock);
}

/// Release the slots of databases that no longer exist. Return false if there are none.
bool release_dropped_databases() {
    const auto all = list();
    // The catalogs must not be older than the list.
    AcceptInvalidationMessages();
    InvalidateCatalogSnapshot();
    bool is_released = false;
    for (const Allocated& each : all) {
        if (SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(each.key.database))) continue;
        release(*each.slot, each.allocation);
        is_released = true;
    }
    return is_released;
}

}  // namespace

// PostgreSQL documents this lock as the one for "an extension's space allocation in shared memory".
// The server acquires it to allocate the root, so map the root first.
Lock::Lock(LWLockMode mode) {
    if (mapped_root == nullptr) mapped_root = map_root<Root>("snowdrift");
    LWLockAcquire(AddinShmemInitLock, mode);
}

Lock::~Lock() { LWLockRelease(AddinShmemInitLock); }

void map_chunks() {
    while (const auto chunk = next_unmapped()) {
        dsm_segment* const segment = dsm_attach(chunk->handle);
        if (segment == nullptr)
            elog(ERROR, "could not attach to the dynamic shared memory segment of ID generators");
        dsm_pin_mapping(segment);
        mapped[mapped_count++] = {static_cast<Slot*>(dsm_segment_address(segment)), chunk->slots};
    }
}

Slot* lookup(const SlotKey& key) {
    map_chunks();
    const Lock lock{LW_SHARED};
    return find_if([&](const Slot& slot) { return !is_free(slot) && slot.key == key; });
}

Slot* allocate(const SlotKey& key) {
    Assert(LWLockHeldByMeInMode(AddinShmemInitLock, LW_EXCLUSIVE));
    // Another session may have allocated the slot, even in a chunk that this process has not
    // mapped.
    if (mapped_count < root().chunk_count) return nullptr;
    const Occupancy found = search(key);
    if (found.has_slot || found.free == nullptr) return nullptr;
    if (!key.is_default() && found.named_in_database >= max_named_generators) return nullptr;
    clear(*found.free);
    new (&found.free->overflow) overflow::State{};
    found.free->waiting = 0;
    found.free->is_noticed = 0;
    found.free->key = key;
    return found.free;
}

void make_visible(Slot& slot) {
    Assert(LWLockHeldByMeInMode(AddinShmemInitLock, LW_EXCLUSIVE) && is_free(slot));
    slot.allocation = ++root().allocations;
}

Occupancy occupancy(const SlotKey& key) {
    map_chunks();
    const Lock lock{LW_SHARED};
    return search(key);
}

void make_room(const SlotKey& key) {
    const Occupancy present = occupancy(key);
    if (present.has_slot || present.free != nullptr) return;
    if (!release_dropped_databases()) add_chunk();
}

void release(Slot& slot, uint64_t allocation) {
    const Lock lock{LW_EXCLUSIVE};
    if (slot.allocation == allocation) slot.allocation = 0;
}

std::span<const Allocated> list() {
    map_chunks();
    size_t capacity = 0;
    for (uint32_t chunk = 0; chunk < mapped_count; ++chunk) capacity += mapped[chunk].slots;
    auto* const first = static_cast<Allocated*>(palloc(capacity * sizeof(Allocated)));
    size_t count = 0;
    const Lock lock{LW_SHARED};
    (void)find_if([&](Slot& slot) {
        if (!is_free(slot)) first[count++] = {&slot, slot.allocation, slot.key};
        return false;
    });
    return {first, count};
}

void visit_generators(void (*visit)(Slot& slot, void* context), void* context) {
    const Lock lock{LW_SHARED};
    (void)find_if([=](Slot& slot) {
        if (is_own_generator(slot)) visit(slot, context);
        return false;
    });
}

void clear_generators() {
    map_chunks();
    const Lock lock{LW_EXCLUSIVE};
    (void)find_if([](Slot& slot) {
        if (is_own_generator(slot)) clear(slot);
        return false;
    });
}

void reserve() { request_named_memory(sizeof(Root)); }

}  // namespace snowdrift::slots
