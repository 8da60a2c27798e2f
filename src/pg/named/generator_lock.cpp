#include "pg/named/generator_lock.hpp"

#include <cstring>

#include "pg/support/lock_owner.hpp"

extern "C" {
#include "common/hashfn.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "utils/inval.h"
}

namespace snowdrift::generator_lock {
namespace {

/// The last field of the tags, which distinguishes locks of generators from those of names.
enum Kind : uint16 { generators, names };

LOCKTAG tag_of(const GeneratorId& generator) {
    LOCKTAG tag;
    SET_LOCKTAG_OBJECT(tag, MyDatabaseId, generator.table, generator.id, Kind::generators);
    return tag;
}

/// Lock the tag exclusively. Return false if another transaction has locked it.
bool try_lock(const LOCKTAG& tag) {
    return LockAcquire(&tag, AccessExclusiveLock, false, true) != LOCKACQUIRE_NOT_AVAIL;
}

}  // namespace

void share(const GeneratorId& generator) {
    acquire_for(TopTransactionResourceOwner, [&] {
        LockDatabaseObject(generator.table, generator.id, Kind::generators, AccessShareLock);
    });
}

void lock_exclusively(const GeneratorId& generator) {
    const LOCKTAG tag = tag_of(generator);
    // Waiting for the lock itself would block all sessions that request it later.
    acquire_for(TopTransactionResourceOwner, [&] {
        while (!try_lock(tag)) {
            CHECK_FOR_INTERRUPTS();
            WaitForLockers(tag, AccessExclusiveLock, false);
        }
    });
    AcceptInvalidationMessages();  // of the transactions that this one has waited for
}

bool is_locked(const GeneratorId& generator, LOCKMODE mode) {
    return has_lock(tag_of(generator), mode);
}

bool try_begin(const GeneratorId& generator) { return try_lock(tag_of(generator)); }

void end(const GeneratorId& generator) {
    Assert(is_locked(generator, AccessExclusiveLock));
    UnlockDatabaseObject(generator.table, generator.id, Kind::generators, AccessExclusiveLock);
}

void lock_name(Oid table, const char* name) {
    const uint32 hash = hash_bytes(reinterpret_cast<const unsigned char*>(name),
                                   static_cast<int>(std::strlen(name)));
    acquire_for(CurTransactionResourceOwner,
                [&] { LockDatabaseObject(table, hash, Kind::names, ShareUpdateExclusiveLock); });
}

}  // namespace snowdrift::generator_lock
