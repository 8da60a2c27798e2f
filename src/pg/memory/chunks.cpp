#include "pg/memory/chunks.hpp"

#include <algorithm>
#include <cstring>

#include "core/mark_state.hpp"
#include "pg/memory/slots.hpp"

extern "C" {
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
}

namespace snowdrift::slots {

// PostgreSQL documents this lock as the one for "an extension's space allocation in shared memory".
AllocationLock::AllocationLock() { LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE); }
AllocationLock::~AllocationLock() { LWLockRelease(AddinShmemInitLock); }
SearchLock::SearchLock() { LWLockAcquire(AddinShmemInitLock, LW_SHARED); }
SearchLock::~SearchLock() { LWLockRelease(AddinShmemInitLock); }

namespace {

constexpr Structure own_structure{.version = structure_version,
                                  .slot_size = sizeof(Slot),
                                  .allocation = offsetof(Slot, allocation),
                                  .database = offsetof(Slot, key.database),
                                  .kind = offsetof(Slot, key.kind),
                                  .mark_word = offsetof(Slot, mark.word),
                                  .written_ms = offsetof(Slot, mark.written_ms)};

static_assert(static_cast<uint32_t>(Kind::mark) == 0, "as root.hpp describes marks");

// The first chunk. Each further chunk is twice as large as the previous one, and all remain until
// the server stops or their structure is retired.
constexpr uint32_t first_chunk_slots = 256;

Root* mapped_root = nullptr;

// ---- the root

Root* map_root() {
    return static_cast<Root*>(
        named_memory(root_name, sizeof(Root), [](void* memory) { new (memory) Root{}; }));
}

shmem_request_hook_type next_shmem_request_hook = nullptr;

void request_shmem() {
    if (next_shmem_request_hook) next_shmem_request_hook();
    RequestAddinShmemSpace(sizeof(Root));
}

// ---- chunks

/// Create a chunk. Keep it if `publish(Chunk, Slot*)` returns true, which is called with
/// AllocationLock held.
template <typename Publish>
void create_chunk(uint32_t count, Publish publish) {
    dsm_segment* const segment = dsm_create(count * sizeof(Slot), 0);
    const dsm_handle handle = dsm_segment_handle(segment);
    dsm_pin_segment(segment);
    auto* const first = new (dsm_segment_address(segment)) Slot[count];
    bool is_published;
    {
        const AllocationLock lock;
        is_published = publish(Chunk{handle, count}, first);
    }
    if (!is_published) dsm_unpin_segment(handle);
    dsm_detach(segment);
}

// ---- the structure

SlotMemory read_memory() {
    const SearchLock lock;
    return mapped_root->memory;
}

bool is_unchanged(const SlotMemory& known) {
    return std::memcmp(&known, &mapped_root->memory, sizeof(SlotMemory)) == 0;
}

/// A field of a slot of any structure.
template <typename Field>
Field& field(char* slot, uint32_t offset) {
    return *reinterpret_cast<Field*>(slot + offset);
}

/// Calls visit(Oid database, std::atomic<uint64_t>& word, std::atomic<uint64_t>& written_ms) for
/// each mark, of any structure. Returns their number.
template <typename Visit>
uint32_t visit_marks(const SlotMemory& memory, dsm_segment* const* segments, Visit visit) {
    const Structure& structure = memory.structure;
    uint32_t marks = 0;
    for (uint32_t chunk = 0; chunk < memory.chunk_count; ++chunk) {
        auto* slot = static_cast<char*>(dsm_segment_address(segments[chunk]));
        for (uint32_t left = memory.chunks[chunk].slots; left > 0; --left) {
            if (field<uint64_t>(slot, structure.allocation) != 0 &&
                field<Kind>(slot, structure.kind) == Kind::mark) {
                visit(field<Oid>(slot, structure.database),
                      field<std::atomic<uint64_t>>(slot, structure.mark_word),
                      field<std::atomic<uint64_t>>(slot, structure.written_ms));
                ++marks;
            }
            slot += structure.slot_size;
        }
    }
    return marks;
}

/// Allocate the slot for a mark whose file is not known: mark::attach() ensures that the mark on
/// disk is not before `unix_ms`.
void take_over_mark(Slot& slot, Oid database, int64_t unix_ms) {
    slot.key = {database, Kind::mark};
    slot.mark.word = MarkWord{unix_ms, 0}.bits;
    slot.allocation = ++mapped_root->allocations;
}

uint32_t count_marks(const SlotMemory& memory, dsm_segment* const* segments) {
    return visit_marks(memory, segments, [](Oid, const auto&, const auto&) {});
}

/// Retire the structure of the slots, whose chunks are mapped, and begin this library's structure
/// with the same marks. Return false if another session has changed the memory.
bool try_replace(const SlotMemory& previous, dsm_segment* const* segments) {
    uint32_t capacity = first_chunk_slots;
    while (capacity < 2 * count_marks(previous, segments)) capacity *= 2;
    bool is_replaced = false;
    create_chunk(capacity, [&](const Chunk& chunk, Slot* slot) {
        if (!is_unchanged(previous) || count_marks(previous, segments) > capacity) return false;
        mapped_root->memory = {own_structure, 1, {chunk}};
        (void)visit_marks(previous, segments,
                          [&](Oid database, auto& word, const auto& written_ms) {
                              take_over_mark(*slot++, database, retire(word, written_ms));
                          });
        return is_replaced = true;
    });
    return is_replaced;
}

/// Replace the structure of an older library by this library's, unless another session does. The
/// previous chunks are freed when the last session that has mapped them ends.
void replace(const SlotMemory& previous) {
    dsm_segment* segments[max_chunks];
    uint32_t mapped = 0;
    while (mapped < previous.chunk_count &&
           (segments[mapped] = dsm_attach(previous.chunks[mapped].handle)) != nullptr)
        ++mapped;
    const bool is_replaced = mapped == previous.chunk_count && try_replace(previous, segments);
    for (uint32_t chunk = 0; chunk < mapped; ++chunk) {
        if (is_replaced) dsm_unpin_segment(previous.chunks[chunk].handle);
        dsm_detach(segments[chunk]);
    }
    if (is_replaced && previous.structure.version != 0)
        ereport(LOG, (errmsg("library of extension \"snowdrift\" was replaced by a newer version"),
                      errdetail("Sessions that use the previous library must reconnect before they "
                                "can generate IDs."),
                      errhidestmt(true), errhidecontext(true)));
}

[[noreturn]] void report_replaced() {
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("library of extension \"snowdrift\" was replaced"),
             errdetail("A newer version of the library has been in use since the server started, "
                       "and this session uses an older one."),
             errhint("Reconnect. If the older version was installed again, restart the server.")));
}

}  // namespace

void require_structure() {
    if (mapped_root == nullptr) mapped_root = map_root();
    SlotMemory present;
    while ((present = read_memory()).structure.version < structure_version) replace(present);
    if (present.structure.version > structure_version) report_replaced();
}

bool is_retired() { return mapped_root->memory.structure.version != structure_version; }

Root& root() { return *mapped_root; }

void add_chunk(uint32_t known) {
    if (known == max_chunks)
        ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of shared memory"),
                        errdetail("This server has reached its maximum number of ID generators.")));
    create_chunk(first_chunk_slots << known, [known](const Chunk& chunk, Slot*) {
        SlotMemory& memory = mapped_root->memory;
        if (is_retired() || memory.chunk_count != known) return false;
        memory.chunks[memory.chunk_count++] = chunk;
        return true;
    });
}

void reserve() {
    if (has_named_segments) return;
    next_shmem_request_hook = shmem_request_hook;
    shmem_request_hook = request_shmem;
}

}  // namespace snowdrift::slots
