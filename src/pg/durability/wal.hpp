// Durable WAL: flushed to this server's disk, confirmed by its synchronous standbys, and writable
// in the first place.
#pragma once

#include "pg/support/postgres.hpp"

extern "C" {
#include "access/xlogdefs.h"
}

namespace snowdrift::wal {

/// Waits until the record at `position` is durable on this server, and on its synchronous standbys
/// unless the server's own configuration exempts commits from that. One session's mark serves all
/// sessions, so a session that turned synchronous_commit off for itself waits too. Raises 57014 if
/// the wait is canceled.
void make_durable(XLogRecPtr position);

/// The WAL file whose state would make PostgreSQL panic on a change now, because the disk is full
/// or read-only; sets errno. Null if there is none. A write that fails later still panics.
const char* find_unwritable_file();

/// Raises 53100 or 42501 if there is such a file.
void require_writable();

}  // namespace snowdrift::wal
