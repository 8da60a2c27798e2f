// The differences between the supported versions of PostgreSQL. No other file tests PG_VERSION_NUM:
// code uses the API of the newest version, which this file gives to older ones, or the functions
// and constants below. Part of postgres.hpp.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>

extern "C" {
#include "postgres.h"

#include "access/twophase.h"
#include "fmgr.h"
#include "nodes/nodeFuncs.h"
#include "replication/origin.h"
#include "replication/syncrep.h"
#include "replication/walsender.h"
#include "replication/walsender_private.h"
#include "storage/lock.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "storage/shmem.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/guc_tables.h"
#include "utils/rel.h"
#include "utils/wait_event.h"

#if PG_VERSION_NUM >= 160000
#include "utils/guc_hooks.h"
#include "varatt.h"
#endif
#if PG_VERSION_NUM >= 170000
#include "storage/dsm_registry.h"
#endif
}

// ---- the API of newer versions

#if PG_VERSION_NUM < 160000

// Soft errors. Earlier versions raise ordinary errors.
#define ereturn(context, dummy_value, ...) \
    do {                                   \
        (void)(context);                   \
        ereport(ERROR, __VA_ARGS__);       \
    } while (0)

// One function checks privileges on all kinds of objects, and one their ownership. Snowdrift checks
// the privileges on functions and the ownership of tables.
inline AclResult object_aclcheck(Oid, Oid function, Oid role, AclMode mode) {
    return pg_proc_aclcheck(function, role, mode);
}

inline bool object_ownercheck(Oid, Oid relation, Oid role) {
    return pg_class_ownercheck(relation, role);
}

// Memberships have no option SET.
inline bool member_can_set_role(Oid member, Oid role) { return is_member_of_role(member, role); }

// The memory of settings' values
inline void* guc_malloc(int, size_t size) { return std::malloc(size); }

#endif

#if PG_VERSION_NUM < 170000

// Named wait events. Earlier versions show the same event for all extensions.
// NOLINTNEXTLINE(readability-identifier-naming): PostgreSQL's name
inline uint32 WaitEventExtensionNew(const char*) { return PG_WAIT_EXTENSION; }

#endif

// The name and the version of a library, which pg_get_loaded_modules() shows
#if PG_VERSION_NUM < 180000
#define PG_MODULE_MAGIC_EXT(...) PG_MODULE_MAGIC
#endif

// PostgreSQL 19 checks that the argument is a pointer, in a way that rejects nullptr.
#if PG_VERSION_NUM >= 190000
#undef PG_RETURN_POINTER
#define PG_RETURN_POINTER(pointer) return reinterpret_cast<Datum>(static_cast<const void*>(pointer))
#endif

// ---- functions and constants

namespace snowdrift {

/// Whether named_memory() can allocate memory that was not requested when the server started.
constexpr bool has_named_segments = PG_VERSION_NUM >= 170000;

/// Returns the shared memory of this name. Calls `initialize` if it did not exist. Before
/// PostgreSQL 17, the memory is in the segment that the server allocates when it starts.
inline void* named_memory(const char* name, size_t size, void (*initialize)(void*)) {
    bool found;
#if PG_VERSION_NUM >= 190000
    const auto call = [](void* memory, void* function) {
        (*static_cast<void (**)(void*)>(function))(memory);
    };
    return GetNamedDSMSegment(name, size, call, &found, &initialize);
#elif PG_VERSION_NUM >= 170000
    return GetNamedDSMSegment(name, size, initialize, &found);
#else
    LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
    void* const memory = ShmemInitStruct(name, size, &found);
    if (!found) initialize(memory);
    LWLockRelease(AddinShmemInitLock);
    return memory;
#endif
}

/// Requests memory for named_memory(), in a shmem_request_hook. From PostgreSQL 17 on, it needs no
/// request.
inline void request_named_memory(size_t size) {
    if (!has_named_segments) RequestAddinShmemSpace(size);
}

/// Whether this session has taken the lock, in this mode or a stronger one.
inline bool has_lock(const LOCKTAG& tag, LOCKMODE mode) {
#if PG_VERSION_NUM >= 170000
    return LockHeldByMe(&tag, mode, true);
#else
    while (mode < AccessExclusiveLock && !LockHeldByMe(&tag, mode)) ++mode;
    return LockHeldByMe(&tag, mode);
#endif
}

/// The number of the current transaction, unique within this session.
inline LocalTransactionId current_transaction() {
#if PG_VERSION_NUM >= 170000
    return MyProc->vxid.lxid;
#else
    return MyProc->lxid;
#endif
}

/// The number of the file that a relation is in.
inline uint64_t file_number(Relation relation) {
#if PG_VERSION_NUM >= 160000
    return relation->rd_locator.relNumber;
#else
    return relation->rd_node.relNode;
#endif
}

/// Returns the record of the setting. The name is compared without regard to case: a placeholder
/// has the one with which it was set. Precondition: there is a setting of that name.
inline const config_generic& setting_record(const char* name) {
#if PG_VERSION_NUM >= 160000
    return *find_option(name, false, false, ERROR);
#else
    config_generic** record = get_guc_variables();
    while (pg_strcasecmp((*record)->name, name) != 0) ++record;
    return **record;
#endif
}

/// Whether a server has a status of synchronous standbys, which minor releases of 2025 introduced.
/// In the same byte, earlier ones have a bool: whether `synchronous_standby_names` has names.
constexpr bool has_standby_status(int server_version) {
    const int major = server_version / 10000;
    return server_version % 10000 >= (major == 15 ? 13 : major == 16 ? 9 : major == 17 ? 5 : 0);
}
static_assert(!has_standby_status(150012) && has_standby_status(150013));
static_assert(!has_standby_status(160008) && has_standby_status(160009));
static_assert(!has_standby_status(170004) && has_standby_status(170005));
static_assert(has_standby_status(180000));

/// Whether `synchronous_standby_names` has names, as commits see it. Precondition:
/// max_wal_senders > 0.
///
/// There is no other way to know what commits wait for. A backend's own SyncRepStandbyNames changes
/// only between its statements: if an administrator removes the names because a standby is lost,
/// the waits of commits end, but this one would not. No function reports the flag that the
/// checkpointer sets for all backends. Therefore, this function reads the flag, as
/// SyncRepWaitForLSN() does. The library can run on an older minor release than its headers, in
/// which the same byte is a bool, and 1 has another meaning: hence has_standby_status(). If
/// PostgreSQL moves or renames the flag, the library does not compile; if it changes the bits, the
/// assertion below fails; and test/t/004_replica.pl waits for a standby, and removes the names, on
/// each version.
inline bool has_names_of_standbys() {
    Assert(max_wal_senders > 0);
    static const int server_version =
        std::atoi(GetConfigOption("server_version_num", false, false));
    constexpr uint8 initialized = 1 << 0;
    constexpr uint8 defined = 1 << 1;
    uint8 status;
#ifdef SYNC_STANDBY_DEFINED
    static_assert(initialized == SYNC_STANDBY_INIT && defined == SYNC_STANDBY_DEFINED);
    std::memcpy(&status, &WalSndCtl->sync_standbys_status, sizeof status);
#else
    std::memcpy(&status, &WalSndCtl->sync_standbys_defined, sizeof status);
#endif
    if (!has_standby_status(server_version)) return status != 0;
    if ((status & initialized) != 0) return (status & defined) != 0;
    return SyncRepStandbyNames != nullptr && *SyncRepStandbyNames != '\0';  // just started
}

/// The process entry of a prepared transaction.
inline const PGPROC* process_of_prepared(FullTransactionId transaction) {
#if PG_VERSION_NUM >= 190000
    return TwoPhaseGetDummyProc(transaction, false);
#else
    return TwoPhaseGetDummyProc(XidFromFullTransactionId(transaction), false);
#endif
}

/// A number in an active snapshot that PostgreSQL neither reads nor writes, and that is 0 in a new
/// one: active snapshots are copies, which have no completion count. watermark/statement_value.cpp
/// marks the snapshots of statements with it.
///
/// There is no other way to tell statements apart. PostgreSQL numbers neither statements nor
/// snapshots. A later snapshot can have the address and the content of an earlier one, if no
/// transaction has ended in between; then a statement that waits for the watermark would never see
/// it rise. The statement's start time is that of the client's message: a loop in a function is one
/// message, and a cursor is read by several. Memory that belongs to one query is not that of the
/// queries in the STABLE functions that it calls. A reference that keeps the snapshot would hold
/// back VACUUM, and a hook would slow down statements that do not use this extension.
///
/// If PostgreSQL gives the count to copies, too, statements are still told apart by it, or share an
/// earlier value, which is lower and therefore safe. If it removes the count, the library does not
/// compile. specs/watermark_statement.spec shows one value in a statement, and
/// test/t/036_watermark.pl a later one in the next.
inline uint64_t& statement_number(Snapshot snapshot) {
    Assert(snapshot->copied);
    return snapshot->snapXactCompletionCount;
}

/// Whether this session's changes have a replication origin.
inline bool has_replication_origin() {
#if PG_VERSION_NUM >= 190000
    return replorigin_xact_state.origin != InvalidReplOriginId;
#else
    return replorigin_session_origin != InvalidRepOriginId;
#endif
}

/// Calls `walker` for each child of a node, or for each element of a list, until it returns true.
/// Returns whether it did. This is PostgreSQL's expression_tree_walker(). Before PostgreSQL 16, C++
/// reads its declaration as that of a function without arguments.
inline bool walk_expression(::Node* node, bool (*walker)(::Node*, void*), void* context) {
#if PG_VERSION_NUM >= 160000
    return expression_tree_walker(node, walker, context);
#else
    auto* const function = reinterpret_cast<void (*)()>(walker);
    return expression_tree_walker(node, reinterpret_cast<bool (*)()>(function), context);
#endif
}

}  // namespace snowdrift
