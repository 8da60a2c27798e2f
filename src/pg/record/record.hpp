// The record: what a database stores about its IDs, so that it survives crashes, failovers and
// dumps. It is the one row of the table snowdrift_tables.mark, which sessions change in place on
// its page, independently of transactions, and log as generic WAL.
//
// The rule: a session that changes the row holds its page's lock from the read to the write, and
// relies on the change only when its WAL is durable (durable_wal.hpp). A later read then sees it on
// this server, after a crash, and on each standby that confirms the mark.
//
// Each column belongs to one folder, which decides its value: the time, its writer and the
// structure to mark/, the server and its number to node/, the origin to named/, the watermark to
// watermark/. They are in one row to keep them consistent: a copy of the server, or a dump, has all
// of them as they were at one moment.
//
// Why a row that is changed in place through generic WAL, and not something else? A sequence would
// do nearly the same, but a role with UPDATE can set it back, logical replication can copy it, and
// it holds only one number. A resource manager for WAL needs shared_preload_libraries, and a server
// without the library could not replay its records. A file outside of PostgreSQL is not in base
// backups and dumps, and standbys do not receive it. Generic WAL has none of these faults: a server
// without the library replays it, and pg_dump dumps the row like any other.
//
// What can go wrong: the table was altered or dropped: open() raises an error. It was moved to
// another file: protocol/mark_protocol.hpp binds the word again. A restored dump has added a second
// row while triggers were disabled: reads return the latest times and the earliest origin of all
// rows, and writes change all of them.
#pragma once

#include "pg/record/durable_wal.hpp"
#include "pg/support/postgres.hpp"
#include "protocol/mark_protocol.hpp"

extern "C" {
#include "access/relation.h"
#include "datatype/timestamp.h"
#include "storage/buf.h"
#include "storage/lockdefs.h"
#include "utils/relcache.h"
}

namespace snowdrift::record {

using mark_protocol::Writer;

/// The row, with the columns of the table in order. All have a fixed width and are NOT NULL. A
/// later version of the extension may add others after them.
struct Row {
    int64 unix_ms = 0;  ///< the mark, in Unix milliseconds

    // The server whose IDs the mark covers: see node/mark_owner.hpp.
    int64 system_identifier = 0;  ///< as in pg_control; 0 in a new row

    int64 origin_ms = 0;     ///< see named/origin.hpp
    int64 watermark_ms = 0;  ///< no later watermark was returned; not after the mark

    TimestampTz server_start = 0;     ///< when the server that wrote the row had started
    TransactionId creation_xid = 0;   ///< see node/mark_owner.hpp
    int32 number = -1;                ///< see node/mark_owner.hpp
    int32 origin_generators = 0;      ///< see named/origin.hpp
    Writer writer = Writer::outside;  ///< of unix_ms
    int32 timeline = 0;               ///< see node/mark_owner.hpp
    int32 citus_group = -1;           ///< see node/mark_owner.hpp
    int32 structure = 0;              ///< of states that rely on the mark; 0 if there are none on
                                      ///< this server since it started
    bool confirmed = true;            ///< see node/mark_owner.hpp

    bool operator==(const Row&) const = default;
};

/// The columns that a restored dump applies.
enum Column : AttrNumber { unix_ms = 1, origin_ms = 3, watermark_ms = 4, origin_generators = 8 };

/// Opens the table. Inserts the row if this transaction has created the table. Raises 55000 if the
/// table is missing, was altered, does not belong to the extension or is not crash-safe. The
/// default lock conflicts with those of commands that change the table's definition or file.
Relation open(LOCKMODE lock = RowExclusiveLock);

/// Whether a relcache invalidation of `relation` may concern the table.
bool is_affected_by(Oid relation);

/// The writer that generators store in the file. A crash may lose a file created by an open
/// transaction, even after the commit, until the commit record is flushed. Therefore, the first
/// session after the commit changes the writer, which flushes that record.
Writer writer_for(Relation table);

/// The transaction that created the table: the same in a copy of the server's files, another one
/// after pg_upgrade.
TransactionId creator_of(Relation table);

/// Returns the row. Raises 55000 if it is missing or was altered.
Row read(Relation table);

/// The same, and opens and closes the table. Raises the errors of open(), too. With
/// AccessShareLock, it does not wait for snowdrift.reset_clock(), which may be waiting for the disk
/// or a standby.
Row read(LOCKMODE lock = RowExclusiveLock);

/// The table's page, locked for a change. lock_page() raises the errors of read().
struct LockedPage {
    Buffer buffer;
    XLogRecPtr position;  ///< end of the WAL record of the last change
    Row row;
};
LockedPage lock_page(Relation table);
void write(Relation table, LockedPage& page, const Row& row);
void unlock_page(const LockedPage& page);

/// Atomically changes the row: calls change(Row&). Returns the new row once it is durable.
template <typename Change>
Row update(Relation table, Change change) {
    LockedPage page = lock_page(table);
    Row row = page.row;
    change(row);
    if (row != page.row) write(table, page, row);
    unlock_page(page);
    wal::make_durable(page.position);
    return row;
}

}  // namespace snowdrift::record
