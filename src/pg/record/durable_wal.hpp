// Durability of WAL: waiting until records are flushed here and on synchronous standbys, and
// checking that WAL is writable.
#pragma once

#include "pg/slots/waiting.hpp"
#include "pg/support/postgres.hpp"

extern "C" {
#include "access/xlogdefs.h"
}

namespace snowdrift::wal {

/// Where make_durable() counts the calls that wait: the counter of the database's mark, once this
/// process has attached it.
extern waiting::Counter* waiting_calls;

/// Waits until WAL up to `position` is durable on this server and, if necessary, on its synchronous
/// standbys. Raises 57014 if the wait is canceled.
void make_durable(XLogRecPtr position);

/// Whether WAL up to `position` is durable.
bool is_durable(XLogRecPtr position);

/// Returns the path of the WAL file that the next change would write, and sets errno, if the disk
/// is full or read-only, so that the change would make PostgreSQL panic; else null. The path is
/// valid until the next call. A write that fails later still panics.
const char* find_unwritable_file();

/// Raises the SQLSTATE of that errno, such as 53100 or 42501, if find_unwritable_file() returns a
/// file.
void require_writable();

}  // namespace snowdrift::wal
