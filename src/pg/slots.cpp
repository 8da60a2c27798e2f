#include "pg/slots.hpp"

#include <new>

extern "C" {
#include "access/xlog.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/syscache.h"
#if PG_VERSION_NUM >= 170000
#include "storage/dsm_registry.h"
#endif
}

#include "pg/definitions.hpp"
#include "pg/mark.hpp"

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

/// Whose a slot is. The ids of generators begin anew where the extension was created anew, so that
/// the table of their definitions belongs to it.
struct Owner {
    uint64_t number;
    Oid definitions;

    bool has(const Slot& slot) const {
        return slot.owner == number && slot.definitions == definitions;
    }
};

bool is_named(uint32_t purpose) { return purpose >= first_named && purpose != mark; }

Owner owner_for(Purpose purpose) {
    return {uint64_t{MyDatabaseId} << 32 | purpose,
            is_named(purpose) ? definitions::table() : InvalidOid};
}

/// A state that nobody has drawn from.
void make_fresh(Slot& slot) {
    SpinLockAcquire(&slot.lock);
    for (auto& word : slot.words) word = 0;
    SpinLockRelease(&slot.lock);
}

/// The owner's slot, or the first that is free; null if there is none.
Slot* find(Table* table, const Owner& owner) {
    Slot* free = nullptr;
    for (Slot& slot : table->slots) {
        if (owner.has(slot)) return &slot;
        if (slot.owner == 0 && free == nullptr) free = &slot;
    }
    return free;
}

/// Whether nobody can draw from the owner's generator any more, as far as this transaction knows.
/// Reads the catalogs.
bool is_gone(const Owner& owner) {
    const auto database = static_cast<Oid>(owner.number >> 32);
    const auto purpose = static_cast<uint32_t>(owner.number);
    if (!SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(database))) return true;
    if (database != MyDatabaseId || !is_named(purpose)) return false;
    return owner.definitions != definitions::table() || !definitions::exists(purpose - first_named);
}

/// Free the slots whose owners are gone. One that comes back, since this transaction had dropped it
/// and is rolled back, gets a fresh slot; meanwhile this transaction's locks keep everybody from
/// it.
void sweep(Table* table) {
    for (Slot& slot : table->slots) {
        const Owner owner{slot.owner, slot.definitions};
        if (owner.number == 0 || !is_gone(owner)) continue;
        mark::give_up_states();
        const Lock lock;
        if (owner.has(slot)) slot.owner = 0;
    }
}

}  // namespace

// The lock is the one PostgreSQL has for "an extension's space allocation in shared memory".
Lock::Lock() { LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE); }
Lock::~Lock() { LWLockRelease(AddinShmemInitLock); }

Slot* attach(Purpose purpose, Begin begin, int64_t mark, const void* generator) {
    if (RecoveryInProgress())
        ereport(ERROR, (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
                        errmsg("cannot generate IDs during recovery"),
                        errhint("Generate them on the primary server.")));

    Table* const slots = table();
    const Owner owner = owner_for(purpose);
    for (const bool swept : {false, true}) {
        if (swept) sweep(slots);
        const Lock lock;
        Slot* const slot = find(slots, owner);
        if (slot == nullptr) continue;
        if (!owner.has(*slot)) {
            make_fresh(*slot);
            new (&slot->statistics) Statistics{};
            begin(*slot, mark, generator);
            slot->definitions = owner.definitions;
            slot->owner = owner.number;
        }
        return slot;
    }
    ereport(ERROR, (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
                    errmsg("too many ID generators on this server"),
                    errdetail("There is room for %d, in all databases.", Table::capacity),
                    errhint("Drop generators that are not used.")));
}

Slot* peek(Purpose purpose) {
    if (RecoveryInProgress()) return nullptr;
    Table* const slots = table();
    const Owner owner = owner_for(purpose);
    const Lock lock;
    Slot* const slot = find(slots, owner);
    return slot != nullptr && owner.has(*slot) ? slot : nullptr;
}

void reset_generators() {
    Table* const slots = table();
    const Lock lock;
    for (Slot& slot : slots->slots) {
        if (slot.owner >> 32 != MyDatabaseId || owner_for(mark).has(slot)) continue;
        make_fresh(slot);
    }
}

void reserve() {
#if PG_VERSION_NUM < 170000
    next_shmem_request_hook = shmem_request_hook;
    shmem_request_hook = request_shmem;
#endif
}

}  // namespace snowdrift::slots
