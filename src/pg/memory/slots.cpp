#include "pg/memory/slots.hpp"

extern "C" {
#include "storage/dsm.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/inval.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#if PG_VERSION_NUM >= 170000
#include "storage/dsm_registry.h"
#endif
}

namespace snowdrift::slots {
namespace {

// The slots are in chunks, each twice as large as the one before. The first is in memory that has a
// name; the others are added when the existing ones are full, and stay until the server stops.
constexpr int max_chunks = 12;
constexpr size_t first_chunk_slots = 256;

constexpr size_t slots_of_chunk(int chunk) { return first_chunk_slots << chunk; }

struct Root {
    std::atomic<uint64_t> claims = 0;           // number of claims since the server started
    std::atomic<int> chunks = 1;                // number of chunks
    dsm_handle handles[max_chunks]{};           // of the chunks after the first
    alignas(64) Slot slots[first_chunk_slots];  // the first chunk
};
static_assert(sizeof(Root) < size_t{64} * 1024, "must fit what a default server has to spare");

// The name carries the structure's version: a new library in a running server must not take an
// old library's memory for its own.
constexpr const char* segment_name = "snowdrift slots 2";

void init(void* memory) { new (memory) Root{}; }

#if PG_VERSION_NUM >= 170000

Root* map_root() {
    bool found;
    return static_cast<Root*>(GetNamedDSMSegment(segment_name, sizeof(Root), init, &found));
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
    if (!found) init(memory);
    LWLockRelease(AddinShmemInitLock);
    return static_cast<Root*>(memory);
}

#endif

Root* root = nullptr;
Slot* mapped[max_chunks];  // in this process
int mapped_count = 0;

/// Keep a chunk in this process until it ends.
Slot* keep(dsm_segment* segment) {
    dsm_pin_mapping(segment);
    return static_cast<Slot*>(dsm_segment_address(segment));
}

/// Map the chunks that this process hasn't mapped yet.
void map() {
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
        mapped[mapped_count++] = keep(segment);
    }
}

/// Add a chunk, unless somebody else has added one meanwhile.
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
    bool added = false;
    {
        const Lock lock;
        if (root->chunks == chunk) {
            root->handles[chunk] = handle;
            root->chunks = chunk + 1;
            added = true;
        }
    }
    if (added) {
        mapped[mapped_count++] = keep(segment);
    } else {
        dsm_unpin_segment(handle);
        dsm_detach(segment);
    }
}

/// Calls visit(Slot&) with each slot that is mapped, until it returns true. Returns that slot.
template <typename Visit>
Slot* find_if(Visit visit) {
    for (int chunk = 0; chunk < mapped_count; ++chunk)
        for (Slot *slot = mapped[chunk], *end = slot + slots_of_chunk(chunk); slot != end; ++slot)
            if (visit(*slot)) return slot;
    return nullptr;
}

bool is_free(const Slot& slot) { return slot.claim.load(std::memory_order_relaxed) == 0; }

struct Room {
    bool has_slot = false;          // whether the key already has a slot
    bool is_share_used_up = false;  // of the key's database; false for default generators
    Slot* free = nullptr;
};

/// What the mapped chunks have for a key.
Room find_room(const SlotKey& key) {
    Room room;
    int named = 0;
    (void)find_if([&](Slot& slot) {
        if (is_free(slot)) {
            if (room.free == nullptr) room.free = &slot;
        } else if (slot.key == key) {
            room.has_slot = true;
        } else if (slot.key.database == key.database && !slot.key.is_default()) {
            ++named;
        }
        return room.has_slot;
    });
    room.is_share_used_up = !key.is_default() && named >= max_named_per_database;
    return room;
}

Room find_room_now(const SlotKey& key) {
    map();
    const Lock lock{true};
    return find_room(key);
}

/// Free the slots of databases that no longer exist. False if there are none.
bool release_dropped_databases() {
    size_t count;
    Claimed* const all = list(count);
    // The catalogs must not be older than the list.
    AcceptInvalidationMessages();
    InvalidateCatalogSnapshot();
    bool found = false;
    for (const Claimed* each = all; each != all + count; ++each) {
        if (SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(each->key.database))) continue;
        release(*each->slot, each->claim);
        found = true;
    }
    pfree(all);
    return found;
}

void make_fresh(Slot& slot) {
    SpinLockAcquire(&slot.lock);
    for (auto& word : slot.words) word = 0;
    SpinLockRelease(&slot.lock);
}

}  // namespace

// The lock is the one PostgreSQL has for "an extension's space allocation in shared memory".
Lock::Lock(bool shared) { LWLockAcquire(AddinShmemInitLock, shared ? LW_SHARED : LW_EXCLUSIVE); }
Lock::~Lock() { LWLockRelease(AddinShmemInitLock); }

Slot* lookup(const SlotKey& key) {
    map();
    const Lock lock{true};
    return find_if([&](const Slot& slot) { return !is_free(slot) && slot.key == key; });
}

Slot* claim(const SlotKey& key) {
    // Another session may have been faster, even with a chunk that isn't mapped here yet.
    if (mapped_count < root->chunks) return nullptr;
    const Room room = find_room(key);
    if (room.has_slot || room.is_share_used_up || room.free == nullptr) return nullptr;
    make_fresh(*room.free);
    new (&room.free->statistics) Statistics{};
    room.free->key = key;
    return room.free;
}

void publish(Slot& slot) { slot.claim = ++root->claims; }

bool make_room(const SlotKey& key) {
    Room room = find_room_now(key);
    if (room.has_slot) return true;
    if (room.is_share_used_up) return false;
    if (room.free == nullptr && !release_dropped_databases()) add_chunk();
    return true;
}

void release(Slot& slot, uint64_t claim) {
    const Lock lock;
    if (slot.claim == claim) slot.claim = 0;
}

Claimed* list(size_t& count) {
    map();
    size_t capacity = 0;
    for (int chunk = 0; chunk < mapped_count; ++chunk) capacity += slots_of_chunk(chunk);
    auto* const all = static_cast<Claimed*>(palloc(capacity * sizeof(Claimed)));
    count = 0;
    const Lock lock{true};
    (void)find_if([&](Slot& slot) {
        if (!is_free(slot)) all[count++] = {&slot, slot.claim, slot.key};
        return false;
    });
    return all;
}

void reset_generators() {
    map();
    const Lock lock;
    (void)find_if([](Slot& slot) {
        if (!is_free(slot) && slot.key.database == MyDatabaseId && slot.key.kind != Kind::mark)
            make_fresh(slot);
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
