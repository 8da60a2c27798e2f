// Lookup of this extension's objects. Objects of other roles cannot influence it.
#pragma once

#include "pg/support/postgres.hpp"

extern "C" {
#include "storage/lockdefs.h"
#include "utils/relcache.h"
}

namespace snowdrift::extension {

/// The relation `name` in the schema of the extension's tables; InvalidOid if there is none. Raises
/// 55000 if the schema was renamed, or if the objects are older than version 1.0.
///
/// This schema is that of the extension's C function restore_mark(), not just any schema named
/// "snowdrift_tables". Other roles cannot create a function that is mistaken for it, because
/// only superusers can create C functions.
Oid find_relation(const char* name);

/// Opens and locks that relation, as it is when the lock has been acquired. Returns null if there
/// is none, or if it was dropped while the session waited for the lock. Raises the errors of
/// find_relation().
Relation open_relation(const char* name, LOCKMODE lock);

/// The extension's function with the C symbol `symbol`. Raises 42883 if there is none.
Oid find_function(const char* symbol);

/// Whether `function` is a C function with the symbol `symbol` that is not SECURITY DEFINER. Only
/// superusers can create one.
bool is_ours(Oid function, const char* symbol);

}  // namespace snowdrift::extension
