#include "pg/durability/mark.hpp"

#include "core/generator.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/postgres.hpp"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

extern "C" {
#include "access/generic_xlog.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "commands/extension.h"
#include "commands/sequence.h"
#include "replication/syncrep.h"
#include "replication/walsender.h"
#include "replication/walsender_private.h"
#include "storage/bufmgr.h"
#include "storage/lwlock.h"
#include "utils/guc.h"
#include "utils/guc_tables.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#if PG_VERSION_NUM >= 160000
#include "utils/guc_hooks.h"
#endif
}

#include "pg/memory/slots.hpp"
#include "pg/support/extension.hpp"

namespace snowdrift::mark {

Session session;

namespace {

constexpr const char* sequence_name = "mark";

slots::Slot* slot = nullptr;
// What the mark's slot keeps beside its word.
constexpr int file_at = 1;   // the file on disk that the word speaks of
constexpr int floor_at = 2;  // Start::floor, as long as the word's tag stays
constexpr int claim_at = 3;  // the word that a session is raising ahead of need
constexpr int fresh_at = 4;  // Start::fresh

// ---- the value on disk
//
// The sequence's last_value is the mark and 16 bits that check it, so that a mark which somebody
// set by hand is noticed and not believed. Its log_cnt says who put it there.

constexpr int check_bits = 16;
constexpr int64_t max_unix_ms = INT64_MAX >> check_bits;  // the year 6429

constexpr int64 stored_from(int64_t unix_ms) {
    const uint64_t mixed = (static_cast<uint64_t>(unix_ms) + 1) * 0x9e3779b97f4a7c15;
    return static_cast<int64>(static_cast<uint64_t>(unix_ms) << check_bits |
                              mixed >> (64 - check_bits));
}
static_assert(stored_from(0) == 40503, "snowdrift--1.0.sql sets a new mark to this");

enum class Origin : int64 {
    outside = 0,      // setval() put it there: an install script, or a dump that was restored
    ours = 1,         // generators raised it
    uncommitted = 2,  // generators raised it, in the transaction that created the file
};

struct OnDisk {
    int64_t unix_ms;  // -1 if the value is no mark
    Origin origin;

    bool operator==(const OnDisk&) const = default;
};

OnDisk on_disk_from(const FormData_pg_sequence_data& data) {
    const int64_t unix_ms = data.last_value >> check_bits;
    const bool valid = data.is_called && stored_from(unix_ms) == data.last_value;
    const auto origin = static_cast<Origin>(data.log_cnt);
    const bool known = origin == Origin::ours || origin == Origin::uncommitted;
    return {valid ? unix_ms : -1, known ? origin : Origin::outside};
}

[[noreturn]] void report_bad_mark(const char* what) {
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("sequence snowdrift.%s %s", sequence_name, what),
                    errdetail("It holds the time after which no ID was ever generated."),
                    errhint("If no later IDs can exist, a superuser may call "
                            "snowdrift.reset_clock(); a missing sequence comes back with the "
                            "extension, dropped and created again.")));
}

// ---- the sequence

Oid sequence_oid = InvalidOid;

/// The extension's sequence may be another one now, or another file.
void forget(Datum, Oid relation) {
    if (relation != sequence_oid && OidIsValid(relation)) return;
    sequence_oid = InvalidOid;
    session.tag = -1;
}

/// Open the sequence, locked so that it stays what it is. What was found before the lock may have
/// been dropped or replaced while this session waited for it.
Relation lock_sequence(LOCKMODE lock) {
    for (;;) {
        const Oid oid = extension::find_relation(sequence_name);
        if (!OidIsValid(oid)) report_bad_mark("is missing");
        Relation sequence = try_relation_open(oid, lock);
        if (sequence == nullptr) continue;
        if (extension::find_relation(sequence_name) == oid) return sequence;
        relation_close(sequence, lock);
    }
}

/// Open the sequence, and make sure that it is the extension's own and crash-safe. The lock is the
/// one that ALTER SEQUENCE waits for.
Relation open_sequence(LOCKMODE lock = RowExclusiveLock) {
    Relation sequence = lock_sequence(lock);
    const Oid oid = RelationGetRelid(sequence);
    if (sequence->rd_rel->relkind != RELKIND_SEQUENCE ||
        getExtensionOfObject(RelationRelationId, oid) != get_extension_oid("snowdrift", true))
        report_bad_mark("does not belong to extension snowdrift");
    if (sequence->rd_rel->relpersistence != RELPERSISTENCE_PERMANENT)
        report_bad_mark("is not crash-safe");
    sequence_oid = oid;
    return sequence;
}

/// The origin that generators write to the file. A file created by an open transaction may be lost
/// in a crash, even after the commit, until the commit record is flushed. So the first session
/// after the commit changes the origin and flushes that record.
Origin origin_in(Relation sequence) {
#if PG_VERSION_NUM >= 160000
    const bool has_new_file = sequence->rd_firstRelfilelocatorSubid != InvalidSubTransactionId;
#else
    const bool has_new_file = sequence->rd_firstRelfilenodeSubid != InvalidSubTransactionId;
#endif
    const bool is_new = sequence->rd_createSubid != InvalidSubTransactionId;
    return is_new || has_new_file ? Origin::uncommitted : Origin::ours;
}

/// The file on disk: another one after every change that a rollback could undo.
uint64_t file_of(Relation sequence) {
#if PG_VERSION_NUM >= 160000
    return sequence->rd_locator.relNumber;
#else
    return sequence->rd_node.relNode;
#endif
}

FormData_pg_sequence_data& data_on(Page page) {
    ItemIdData* const item = PageGetItemId(page, FirstOffsetNumber);
    auto* tuple = reinterpret_cast<HeapTupleHeader>(PageGetItem(page, item));
    return *reinterpret_cast<FormData_pg_sequence_data*>(reinterpret_cast<char*>(tuple) +
                                                         tuple->t_hoff);
}

OnDisk read(Relation sequence) {
    const Buffer buffer = ReadBuffer(sequence, 0);
    LockBuffer(buffer, BUFFER_LOCK_SHARE);
    const OnDisk present = on_disk_from(data_on(BufferGetPage(buffer)));
    UnlockReleaseBuffer(buffer);
    return present;
}

/// Whether there are synchronous standbys to wait for.
bool has_synchronous_standbys() {
    if (max_wal_senders == 0) return false;  // no commit waits either
#ifdef SYNC_STANDBY_DEFINED
    const bits8 status = WalSndCtl->sync_standbys_status;
    if ((status & SYNC_STANDBY_INIT) != 0) return (status & SYNC_STANDBY_DEFINED) != 0;
    return SyncRepStandbyNames != nullptr && *SyncRepStandbyNames != '\0';  // just started
#else
    return WalSndCtl->sync_standbys_defined;
#endif
}

const config_generic& synchronous_commit_option() {
    constexpr const char* name = "synchronous_commit";
#if PG_VERSION_NUM >= 160000
    return *find_option(name, false, false, ERROR);
#else
    config_generic** option = get_guc_variables();
    while (std::strcmp((*option)->name, name) != 0) ++option;
    return **option;
#endif
}

/// Whether commits wait for no standby because the server's own configuration says so, and not that
/// of a role, a database, a connection or a session.
bool server_spares_standbys() {
    if (synchronous_commit > SYNCHRONOUS_COMMIT_LOCAL_FLUSH) return false;
    if (synchronous_commit_option().reset_source > PGC_S_ARGV) return false;
    const char* const value = GetConfigOptionResetString("synchronous_commit");
    return std::strcmp(value, "off") == 0 || std::strcmp(value, "local") == 0;
}

void say_unconfirmed(void*) {
    errcontext("while waiting for a synchronous standby to confirm the ID mark");
}

/// Wait until the standbys that `synchronous_standby_names` asks for have the record at `position`.
/// One session's mark serves them all, so a session that turned synchronous_commit off for itself
/// waits too. Raises 57014 when the wait was cancelled.
void wait_for_standbys(XLogRecPtr position) {
    if (server_spares_standbys()) return;

    // PostgreSQL's warnings about a canceled wait apply only to commits, so suppress them.
    const int commit_of_session = synchronous_commit;
    const int client_level = client_min_messages;
    const int log_level = log_min_messages;
    HOLD_INTERRUPTS();
    synchronous_commit = SYNCHRONOUS_COMMIT_REMOTE_FLUSH;
    assign_synchronous_commit(synchronous_commit, nullptr);
    client_min_messages = log_min_messages = ERROR;
    SyncRepWaitForLSN(position, false);
    client_min_messages = client_level;
    log_min_messages = log_level;
    synchronous_commit = commit_of_session;
    assign_synchronous_commit(synchronous_commit, nullptr);
    LWLockAcquire(SyncRepLock, LW_SHARED);
    const bool confirmed =
        !has_synchronous_standbys() || WalSndCtl->lsn[SYNC_REP_WAIT_FLUSH] >= position;
    LWLockRelease(SyncRepLock);
    RESUME_INTERRUPTS();
    CHECK_FOR_INTERRUPTS();
    if (confirmed) return;

    // The wait has consumed the cancel request. Set it again so that PostgreSQL reports its cause.
    ErrorContextCallback context{error_context_stack, say_unconfirmed, nullptr};
    error_context_stack = &context;
    QueryCancelPending = true;
    InterruptPending = true;
    CHECK_FOR_INTERRUPTS();
    ereport(ERROR,
            (errcode(ERRCODE_QUERY_CANCELED), errmsg("canceling statement due to user request")));
}

/// Wait until the record at `position` is safe: on this server's disk, and on its synchronous
/// standbys'.
void make_durable(XLogRecPtr position) {
    XLogFlush(position);
    if (has_synchronous_standbys()) wait_for_standbys(position);
}

/// The WAL file in which a change now would make PostgreSQL panic, since the disk is full or
/// read-only, and errno; null if there is none. It tells what is so already: a write that fails
/// later does panic.
const char* find_unwritable_wal() {
    const XLogRecPtr end = GetXLogInsertRecPtr() + 2 * BLCKSZ;  // more than any change's records
    XLogSegNo segment;
    XLByteToSeg(end, segment, wal_segment_size);
    static char path[MAXPGPATH];
    XLogFilePath(path, GetWALInsertionTimeLine(), segment, wal_segment_size);
    if (access(path, W_OK) == 0) return nullptr;
    if (errno == ENOENT && access(XLOGDIR, W_OK) == 0) {  // the segment is still to be made
        if (!wal_init_zero) return nullptr;
        struct statvfs disk;
        if (statvfs(XLOGDIR, &disk) != 0 ||
            disk.f_bavail * disk.f_frsize >= static_cast<uint64_t>(wal_segment_size))
            return nullptr;
        errno = ENOSPC;
    }
    return path;
}

/// Raise an error rather than let PostgreSQL panic.
void require_writable_wal() {
    const char* const path = find_unwritable_wal();
    if (path == nullptr) return;
    ereport(ERROR,
            (errcode_for_file_access(), errmsg("could not raise the mark of IDs: %m"),
             errdetail("It is raised through WAL file \"%s\", before an ID is returned.", path)));
}

/// Change the mark on disk to what `decide` makes of what is there. Returns what is there, and
/// safe, then.
template <typename Decide>
OnDisk update(Relation sequence, Decide decide) {
    const Buffer buffer = ReadBuffer(sequence, 0);
    LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
    XLogRecPtr position = BufferGetLSNAtomic(buffer);
    const OnDisk present = on_disk_from(data_on(BufferGetPage(buffer)));
    const OnDisk wanted = decide(present);
    if (wanted != present) {
        require_writable_wal();
        GenericXLogState* const change = GenericXLogStart(sequence);
        FormData_pg_sequence_data& data = data_on(GenericXLogRegisterBuffer(change, buffer, 0));
        data.last_value = stored_from(wanted.unix_ms);
        data.log_cnt = static_cast<int64>(wanted.origin);
        data.is_called = true;
        position = GenericXLogFinish(change);
    }
    UnlockReleaseBuffer(buffer);
    make_durable(position);
    return wanted;
}

// ---- the word in shared memory
//
// Whoever changes it holds a lock on the sequence of whose file it speaks, or will speak: nobody
// has the extension dropped, or the mark in another file, while somebody else tells what is in it.

Word load() { return Word{slot->words[0].load(std::memory_order_acquire)}; }

/// Tell all sessions that the place tagged `tag` has `unix_ms` on disk.
void publish(int64_t unix_ms, uint16_t tag) {
    Word present = load();
    const Word later{unix_ms, tag};
    while (present.tag() == tag && present.unix_ms() < unix_ms &&
           !slot->words[0].compare_exchange_weak(present.bits, later.bits)) {
    }
}

/// Make the word speak of `file`, whose mark is `on_disk`; false if it says a later mark meanwhile,
/// which somebody else may have raised after this session read the file.
bool adopt(uint64_t file, int64_t on_disk) {
    const slots::Lock lock;
    Word present = load();
    do {
        if (present.unix_ms() > on_disk) return false;
    } while (!slot->words[0].compare_exchange_weak(present.bits, present.adopted(on_disk).bits));
    slot->words[file_at] = file;
    slot->words[floor_at] = static_cast<uint64_t>(on_disk);
    slot->words[fresh_at] = static_cast<uint64_t>(on_disk);
    return true;
}

bool is_word_for(uint64_t file) { return slot->words[file_at] == file; }

/// Rely on the word from now on, if it speaks of `file`.
bool settle(uint64_t file) {
    const slots::Lock lock;
    if (!is_word_for(file)) return false;
    session.tag = load().tag();
    return true;
}

/// Come to terms about where the mark is: what the word says must be on disk there before anyone
/// relies on it, and what is on disk there must be known before anyone generates.
///
/// What this function reads remains valid while the sequence is locked. Invalidations that arrive
/// meanwhile only make the session read it again.
void look_again() {
    Relation sequence = open_sequence();
    const uint64_t file = file_of(sequence);
    const Origin wanted = origin_in(sequence);
    OnDisk present = read(sequence);
    while (present.origin != wanted || !settle(file)) {
        const int64_t known = load().unix_ms();
        if (present.unix_ms < 0 && known == 0) report_bad_mark("was tampered with");
        if (present.origin != Origin::uncommitted || !is_word_for(file)) {
            // Keep the origin "outside" until the word is updated. After a failure in between, the
            // next session sees the same state.
            present = update(sequence, [&](OnDisk now) {
                return now.unix_ms >= known ? now : OnDisk{known, Origin::outside};
            });
            if (!adopt(file, present.unix_ms)) continue;
        }
        // Ours from now on, unless somebody set it again meanwhile.
        present = update(sequence, [&](OnDisk now) {
            return now == present ? OnDisk{now.unix_ms, wanted} : now;
        });
    }
    relation_close(sequence, RowExclusiveLock);
}

/// Whether this session is the one to raise the mark `present` ahead of need.
bool claim(Word present) {
    uint64_t claimed = slot->words[claim_at];
    return claimed != present.bits &&
           slot->words[claim_at].compare_exchange_strong(claimed, present.bits);
}

/// Raise the mark past `unix_ms` by a lease; false if this session knows the wrong place.
bool try_raise(int64_t unix_ms) {
    if (unix_ms > max_unix_ms)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("the server's clock is past the times that the mark can hold"),
                        errhint("Correct the server's clock.")));
    const Word known = load();
    if (known.tag() != session.tag) return false;
    const bool needed = known.unix_ms() < unix_ms;
    if (!needed && (!claim(known) || find_unwritable_wal() != nullptr)) return true;

    Relation sequence = open_sequence();
    // Opening the sequence may have processed invalidations. Under the lock, compare the file with
    // the one that the word describes.
    const Origin own = origin_in(sequence);
    bool is_right = settle(file_of(sequence)) && session.tag == known.tag();
    if (is_right) {
        // Generators that begin one after the other each begin after the mark: where an ID is ahead
        // of the clock, a shorter lease keeps them from driving each other further ahead.
        const int64_t later = std::max(unix_ms + lease_ahead_ms, clock::now_ms() + lease_ms);
        const int64_t target = std::min(later, max_unix_ms);
        const OnDisk present = update(sequence, [&](OnDisk now) {
            const bool enough = now.unix_ms >= (needed ? unix_ms : target);
            return enough || now.origin != own ? now : OnDisk{target, own};
        });
        is_right = present.origin == own;
        if (is_right) publish(present.unix_ms, known.tag());
    }
    relation_close(sequence, RowExclusiveLock);
    return is_right && load().tag() == known.tag();
}

slots::SlotKey slot_key() { return {MyDatabaseId, slots::Kind::mark}; }

/// Ensure that this server may write.
void require_primary() {
    if (RecoveryInProgress())
        ereport(ERROR, (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
                        errmsg("cannot generate IDs during recovery"),
                        errhint("Generate them on the primary server.")));
}

void attach_slot() {
    if (slot != nullptr) return;
    slots::Slot* found;
    while ((found = slots::attach(slot_key(), [](slots::Slot&) {})) == nullptr)
        (void)slots::make_room(slot_key());
    slot = found;
    session.word = &slot->words[0];
    CacheRegisterRelcacheCallback(forget, Datum{0});
}

}  // namespace

Start attach() {
    require_primary();
    attach_slot();
    while (session.tag != load().tag()) look_again();
    return {static_cast<int64_t>(slot->words[floor_at].load()),
            static_cast<int64_t>(slot->words[fresh_at].load())};
}

void give_up_states() {
    // At the end of a transaction nothing can be looked up.
    slots::Slot* const known = slot != nullptr ? slot : slots::lookup(slot_key());
    if (known == nullptr) return;  // there were none since the server started
    const auto last = static_cast<uint64_t>(Word{known->words[0]}.unix_ms());
    (void)snowdrift::raise(known->words[fresh_at], last);
}

int64_t read() {
    Relation sequence = open_sequence();
    const OnDisk present = read(sequence);
    relation_close(sequence, RowExclusiveLock);
    if (present.unix_ms < 0) report_bad_mark("was tampered with");
    return present.unix_ms;
}

bool raise(int64_t unix_ms) {
    if (try_raise(unix_ms)) return true;
    session.tag = -1;
    return false;
}

bool reset(int64_t unix_ms, int64_t max_lead_ms) {
    attach_slot();
    // Against all who raise the mark, or come to know it, meanwhile.
    Relation sequence = open_sequence(ShareRowExclusiveLock);
    const OnDisk present = read(sequence);
    const bool needed = present.unix_ms < 0 || present.unix_ms - unix_ms > max_lead_ms;
    if (needed) {
        (void)update(sequence, [&](OnDisk) { return OnDisk{unix_ms, Origin::outside}; });
        slot->words[0] = load().adopted(0).bits;  // first: what is drawn from now on does not count
        slots::reset_generators();
        session.tag = -1;
    }
    relation_close(sequence, ShareRowExclusiveLock);
    return needed;
}

}  // namespace snowdrift::mark
