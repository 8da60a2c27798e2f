#include "pg/slots.hpp"

#include <new>

extern "C" {
#include "access/xlog.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#if PG_VERSION_NUM >= 170000
#include "storage/dsm_registry.h"
#endif
}

namespace snowdrift::slots {
namespace {

struct Table {
    static constexpr int capacity = 256;
    Slot slots[capacity];
};
static_assert(sizeof(Table) < size_t{64} * 1024, "must fit what a default server has to spare");

// The name carries the structure's version: a new library in a running server must not take an
// old library's memory for its own.
constexpr const char* segment_name = "snowdrift slots 1";

void init(void* memory) { new (memory) Table{}; }

#if PG_VERSION_NUM >= 170000

Table* map_table() {
    bool found;
    return static_cast<Table*>(GetNamedDSMSegment(segment_name, sizeof(Table), init, &found));
}

#else

shmem_request_hook_type next_shmem_request_hook = nullptr;

void request_shmem() {
    if (next_shmem_request_hook) next_shmem_request_hook();
    RequestAddinShmemSpace(sizeof(Table));
}

Table* map_table() {
    bool found;
    LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
    void* memory = ShmemInitStruct(segment_name, sizeof(Table), &found);
    if (!found) init(memory);
    LWLockRelease(AddinShmemInitLock);
    return static_cast<Table*>(memory);
}

#endif

Table* table() {
    static Table* mapped = nullptr;
    if (mapped == nullptr) mapped = map_table();
    return mapped;
}

uint64_t owner_for(Purpose purpose) { return uint64_t{MyDatabaseId} << 32 | purpose; }

Slot* find_or_claim(Table* table, uint64_t owner, Begin begin, int64_t mark) {
    Slot* free = nullptr;
    for (Slot& slot : table->slots) {
        if (slot.owner == owner) return &slot;
        if (slot.owner == 0 && free == nullptr) free = &slot;
    }
    if (free != nullptr) {
        begin(*free, mark);
        free->owner = owner;
    }
    return free;
}

}  // namespace

// The lock is the one PostgreSQL has for "an extension's space allocation in shared memory".
Lock::Lock() { LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE); }
Lock::~Lock() { LWLockRelease(AddinShmemInitLock); }

Slot* attach(Purpose purpose, Begin begin, int64_t mark) {
    if (RecoveryInProgress())
        ereport(ERROR, (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
                        errmsg("cannot generate IDs during recovery"),
                        errhint("Generate them on the primary server.")));

    Table* const slots = table();
    Slot* slot;
    {
        const Lock lock;
        slot = find_or_claim(slots, owner_for(purpose), begin, mark);
    }
    if (slot == nullptr)
        ereport(ERROR, (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
                        errmsg("too many ID generators on this server"),
                        errdetail("There is room for %d.", Table::capacity)));
    return slot;
}

void reset_generators() {
    Table* const slots = table();
    const Lock lock;
    for (Slot& slot : slots->slots) {
        if (slot.owner >> 32 != MyDatabaseId || slot.owner == owner_for(mark)) continue;
        SpinLockAcquire(&slot.lock);
        for (auto& word : slot.words) word = 0;
        SpinLockRelease(&slot.lock);
    }
}

void reserve() {
#if PG_VERSION_NUM < 170000
    next_shmem_request_hook = shmem_request_hook;
    shmem_request_hook = request_shmem;
#endif
}

}  // namespace snowdrift::slots
