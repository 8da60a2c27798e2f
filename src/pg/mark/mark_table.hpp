// The mark on disk: the row of the table snowdrift_tables.mark. It is changed in place on its page,
// independently of transactions, and logged as generic WAL. mark.hpp has the protocol between
// sessions.
#pragma once

#include <algorithm>

#include "pg/mark/durable_wal.hpp"
#include "pg/support/postgres.hpp"
#include "protocol/mark_protocol.hpp"

extern "C" {
#include "access/relation.h"
#include "storage/buf.h"
#include "storage/lockdefs.h"
#include "utils/relcache.h"
}

namespace snowdrift::mark_table {

/// The columns that a restored dump applies.
enum Column : AttrNumber { unix_ms = 1, origin_ms = 3, watermark_ms = 4, origin_generators = 8 };

using mark_protocol::Writer;

/// Owner::number before the first ID that contains a number.
inline constexpr int32 unknown_number = -1;

/// Owner::number if none was configured, or 0.
inline constexpr int32 no_number = 0;

/// Owner::citus_group outside a Citus cluster.
inline constexpr int32 no_group = -1;

/// The server whose IDs the mark covers.
struct Owner {
    uint64_t system_identifier;  ///< as in pg_control
    TransactionId creation_xid;  ///< that created the table: the same in a copy of the server's
                                 ///< files, another one after pg_upgrade
    TimeLineID timeline;         ///< of its WAL: a promoted standby has a later one
    int32 citus_group;           ///< its group in a Citus cluster, or no_group
    int32 number;                ///< configured for the whole database at its last IDs,
                                 ///< no_number or unknown_number
    bool is_confirmed;           ///< false on a copy or a clone, until a superuser confirms it

    bool operator==(const Owner&) const = default;
};

/// The time at which the generators with ids up to `last_generator` start: they have issued no ID
/// before it, and never will. The id of the default generators is 0.
struct Origin {
    int64 unix_ms;
    int32 last_generator;

    /// One origin for the generators of both.
    Origin with(const Origin& other) const {
        return {std::min(unix_ms, other.unix_ms), std::max(last_generator, other.last_generator)};
    }

    bool operator==(const Origin&) const = default;
};

/// The row.
struct Value {
    int64 unix_ms;
    Owner owner;
    Origin origin;
    Writer writer;
    int32 structure;     ///< of states that rely on the mark; 0 if there are none on this server
    int64 watermark_ms;  ///< no later watermark was returned; not after the mark

    /// The same with another time, written by `new_writer`.
    Value with(int64 new_unix_ms, Writer new_writer) const {
        return {new_unix_ms, owner, origin, new_writer, structure, watermark_ms};
    }

    /// The same with an origin that also applies to the generators of `other`.
    Value with(const Origin& other) const {
        return {unix_ms, owner, origin.with(other), writer, structure, watermark_ms};
    }

    /// The same with another latest watermark.
    Value with_watermark(int64 new_watermark_ms) const {
        return {unix_ms, owner, origin, writer, structure, new_watermark_ms};
    }

    bool operator==(const Value&) const = default;
};

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

/// This server as the owner of the mark after `last`: with its own identifiers and timeline, and
/// the other fields of `last`. During recovery, with the timeline of `last`.
Owner this_server(Relation table, const Owner& last);

/// Returns the current value. Raises 55000 if the row is missing or was altered.
Value read(Relation table);

/// The same, and opens and closes the table. Raises the errors of open(), too. With
/// AccessShareLock, it does not wait for mark::reset(), which may be waiting for the disk or a
/// standby.
Value read(LOCKMODE lock = RowExclusiveLock);

/// The table's page, locked for a change. lock_page() raises the errors of read().
struct LockedPage {
    Buffer buffer;
    XLogRecPtr position;  ///< end of the WAL record of the last change
    Value value;
};
LockedPage lock_page(Relation table);
void write(Relation table, LockedPage& page, const Value& value);
void unlock_page(const LockedPage& page);

/// Atomically replaces the value by `decide(value)`. Returns the new value once it is durable.
template <typename Decide>
Value update(Relation table, Decide decide) {
    LockedPage page = lock_page(table);
    const Value value = decide(page.value);
    if (value != page.value) write(table, page, value);
    unlock_page(page);
    wal::make_durable(page.position);
    return value;
}

}  // namespace snowdrift::mark_table
