// The mark on disk: the value of the sequence snowdrift.mark. Changes are made in place on the
// sequence's page, and logged as generic WAL. mark.hpp has the protocol between sessions.
#pragma once

#include "pg/durability/durable_wal.hpp"
#include "pg/support/postgres.hpp"

extern "C" {
#include "storage/buf.h"
#include "storage/lockdefs.h"
#include "utils/relcache.h"
}

namespace snowdrift::mark_sequence {

/// The latest time that the sequence can hold, in Unix milliseconds: the year 6429.
inline constexpr int64_t max_unix_ms = INT64_MAX >> 16;

/// The writer of the current value.
enum class Writer : int64 {
    outside = 0,      ///< setval(): the install script, or a restored dump
    generators = 1,   ///< a generator that advanced the mark
    uncommitted = 2,  ///< the same, in the transaction that created the file
};

struct Value {
    int64_t unix_ms;  ///< -1 if the stored value is invalid
    Writer writer;

    bool operator==(const Value&) const = default;
};

/// Opens the sequence. Raises 55000 unless it belongs to the extension and is crash-safe. The
/// default lock conflicts with that of ALTER SEQUENCE.
Relation open(LOCKMODE lock = RowExclusiveLock);

/// Whether a relcache invalidation of `relation` may concern the sequence.
bool is_affected_by(Oid relation);

/// The number of the file on disk. Every change that a rollback could undo creates a new file.
uint64_t file_of(Relation sequence);

/// The writer that generators store in the file. A crash may lose a file created by an open
/// transaction, even after the commit, until the commit record is flushed. So the first session
/// after the commit changes the writer, which flushes that record.
Writer writer_for(Relation sequence);

/// Returns the current value.
Value read(Relation sequence);

/// The sequence's page, locked for a change.
struct LockedPage {
    Buffer buffer;
    XLogRecPtr position;  ///< end of the WAL record of the last change
    Value value;
};
LockedPage lock_page(Relation sequence);
void write(Relation sequence, LockedPage& page, const Value& value);
void unlock_page(const LockedPage& page);

/// Atomically replaces the value by `decide(value)`. Returns the new value once it is durable.
template <typename Decide>
Value update(Relation sequence, Decide decide) {
    LockedPage page = lock_page(sequence);
    const Value value = decide(page.value);
    if (value != page.value) write(sequence, page, value);
    unlock_page(page);
    wal::make_durable(page.position);
    return value;
}

/// Raises 55000: the sequence is unusable. `problem` is a predicate, such as "is missing".
[[noreturn]] void report_unusable(const char* problem);

}  // namespace snowdrift::mark_sequence
