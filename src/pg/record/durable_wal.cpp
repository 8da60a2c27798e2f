#include "pg/record/durable_wal.hpp"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

extern "C" {
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "replication/syncrep.h"
#include "replication/walsender.h"
#include "replication/walsender_private.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "utils/guc.h"
#include "utils/wait_event.h"
}

#include "pg/support/postgres.hpp"

namespace snowdrift::wal {
namespace {

waiting::Counter unattached;

/// Whether there are synchronous standbys to wait for.
bool has_synchronous_standbys() {
    return max_wal_senders > 0 && has_names_of_standbys();  // without senders, commits do not wait
}

/// Whether the server's configuration exempts commits from waiting for standbys. Settings of a
/// role, a database, a connection or a session are ignored.
bool is_server_exempt() {
    if (synchronous_commit > SYNCHRONOUS_COMMIT_LOCAL_FLUSH) return false;
    if (setting_record("synchronous_commit").reset_source > PGC_S_ARGV) return false;
    const char* const value = GetConfigOptionResetString("synchronous_commit");
    return std::strcmp(value, "off") == 0 || std::strcmp(value, "local") == 0;
}

bool is_confirmed_by_standbys(XLogRecPtr position) {
    LWLockAcquire(SyncRepLock, LW_SHARED);
    const bool is_confirmed = WalSndCtl->lsn[SYNC_REP_WAIT_FLUSH] >= position;
    LWLockRelease(SyncRepLock);
    return is_confirmed;
}

/// Whether WAL is durable only once synchronous standbys have it. Ignores a session's own setting
/// of synchronous_commit, because the mark serves all sessions.
bool must_wait_for_standbys() { return has_synchronous_standbys() && !is_server_exempt(); }

void add_confirmation_context(void*) {
    errcontext("while waiting for a synchronous standby to confirm the ID mark");
}

/// Wait until the standbys in `synchronous_standby_names` have flushed WAL up to `position`, or
/// until none is named.
///
/// This polls, and does not wait in the queue of commits: SyncRepWaitForLSN() returns when a cancel
/// request arrives, and warns that a transaction was committed. The next check is after an eighth
/// of the wait so far, at least 1 ms and at most 100 ms.
void wait_for_standbys(XLogRecPtr position) {
    ErrorContextCallback context{error_context_stack, add_confirmation_context, nullptr};
    error_context_stack = &context;
    for (long waited_ms = 0; must_wait_for_standbys() && !is_confirmed_by_standbys(position);) {
        CHECK_FOR_INTERRUPTS();
        const long sleep_ms = std::clamp(waited_ms / 8, 1L, 100L);
        waited_ms += sleep_ms;
        (void)WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, sleep_ms,
                        WAIT_EVENT_SYNC_REP);
        ResetLatch(MyLatch);
    }
    error_context_stack = context.previous;
}

}  // namespace

waiting::Counter* waiting_calls = &unattached;

void make_durable(XLogRecPtr position) {
    if (is_durable(position)) return;
    waiting::count_while(*waiting_calls, [position] {
        XLogFlush(position);
        wait_for_standbys(position);
    });
}

bool is_durable(XLogRecPtr position) {
    return GetFlushRecPtr(nullptr) >= position &&
           (!must_wait_for_standbys() || is_confirmed_by_standbys(position));
}

const char* find_unwritable_file() {
    // Two pages are more than the records of one change.
    const XLogRecPtr end = GetXLogInsertRecPtr() + 2 * BLCKSZ;
    XLogSegNo segment;
    XLByteToSeg(end, segment, wal_segment_size);
    static char path[MAXPGPATH];
    XLogFilePath(path, GetWALInsertionTimeLine(), segment, wal_segment_size);
    if (access(path, W_OK) == 0) return nullptr;
    if (errno == ENOENT && access(XLOGDIR, W_OK) == 0) {  // PostgreSQL will create the segment
        if (!wal_init_zero) return nullptr;
        struct statvfs disk;
        if (statvfs(XLOGDIR, &disk) != 0 ||
            disk.f_bavail * disk.f_frsize >= static_cast<uint64_t>(wal_segment_size))
            return nullptr;
        errno = ENOSPC;
    }
    return path;
}

void require_writable() {
    const char* const path = find_unwritable_file();
    if (path == nullptr) return;
    ereport(ERROR,
            (errcode_for_file_access(), errmsg("could not advance the ID mark: %m"),
             errdetail("The mark is written through WAL file \"%s\" before an ID or a watermark "
                       "is returned.",
                       path),
             errhint("Free space on this file's disk, or make it writable. IDs then "
                     "continue without a restart.")));
}

}  // namespace snowdrift::wal
