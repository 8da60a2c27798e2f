#include "pg/mark/slots.hpp"

#include <optional>

namespace snowdrift::slots {
namespace {

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

}  // namespace

void map_chunks() {
    while (const auto chunk = next_unmapped()) {
        dsm_segment* const segment = dsm_attach(chunk->handle);
        if (segment == nullptr)
            elog(ERROR, "could not attach to the dynamic shared memory segment of ID generators");
        dsm_pin_mapping(segment);
        mapped[mapped_count++] = {static_cast<Slot*>(dsm_segment_address(segment)), chunk->slots};
    }
}

namespace {

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
    slot.is_logged = 0;
    SpinLockRelease(&slot.lock);
}

}  // namespace

Slot* lookup(const SlotKey& key) {
    map_chunks();
    const Lock lock{LW_SHARED};
    return find_if([&](const Slot& slot) { return !is_free(slot) && slot.key == key; });
}

Slot* allocate(const SlotKey& key, int max_named) {
    // Another session may have allocated the slot, even in a chunk that this process has not
    // mapped.
    if (mapped_count < root().chunk_count) return nullptr;
    const Occupancy found = search(key);
    if (found.has_slot || found.free == nullptr) return nullptr;
    if (!key.is_default() && found.named_in_database >= max_named) return nullptr;
    clear(*found.free);
    new (&found.free->statistics) Statistics{};
    found.free->key = key;
    return found.free;
}

void publish(Slot& slot) { slot.allocation = ++root().allocations; }

Occupancy occupancy(const SlotKey& key) {
    map_chunks();
    const Lock lock{LW_SHARED};
    return search(key);
}

void grow() { add_chunk(mapped_count); }

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

void visit_generators(void (*visit)(const Slot& slot, void* context), void* context) {
    const Lock lock{LW_SHARED};
    (void)find_if([=](const Slot& slot) {
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

}  // namespace snowdrift::slots
