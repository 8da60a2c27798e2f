#include "pg/slots.hpp"

#include "pg/postgres.hpp"

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
    static constexpr int capacity = 512;
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

Slot* find_or_claim(Table* table, uint64_t owner) {
    Slot* free = nullptr;
    for (Slot& slot : table->slots) {
        if (slot.owner == owner) return &slot;
        if (slot.owner == 0 && free == nullptr) free = &slot;
    }
    if (free != nullptr) free->owner = owner;
    return free;
}

}  // namespace

Slot* attach(uint32_t generator) {
    if (RecoveryInProgress())
        ereport(ERROR, (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
                        errmsg("cannot generate IDs during recovery"),
                        errhint("Generate them on the primary server.")));

    static Table* table = nullptr;
    if (table == nullptr) table = map_table();

    LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
    Slot* slot = find_or_claim(table, uint64_t{MyDatabaseId} << 32 | generator);
    LWLockRelease(AddinShmemInitLock);
    if (slot == nullptr)
        ereport(ERROR, (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
                        errmsg("too many ID generators on this server"),
                        errdetail("There is room for %d.", Table::capacity)));
    return slot;
}

void reserve() {
#if PG_VERSION_NUM < 170000
    next_shmem_request_hook = shmem_request_hook;
    shmem_request_hook = request_shmem;
#endif
}

}  // namespace snowdrift::slots
