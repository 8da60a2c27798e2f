// PostgreSQL's headers in the form that every file of src/pg needs, and the macros that define
// SQL-callable functions. Nothing outside src/pg includes this, except a benchmark's own extension.
#pragma once

// PostgreSQL 15 defines this as empty, because it expects libraries to export every symbol. Ours
// exports only the symbols that the server looks up.
#define PGDLLEXPORT __attribute__((visibility("default")))

// The standard library may declare these functions. PostgreSQL built without NLS replaces them by
// macros.
#if __has_include(<libintl.h>)
#include <libintl.h>
#endif

extern "C" {
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "utils/timestamp.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#else
#include "utils/acl.h"
#endif
}

namespace snowdrift {

/// The number of the present transaction, unique in this session.
inline LocalTransactionId current_transaction() {
#if PG_VERSION_NUM >= 170000
    return MyProc->vxid.lxid;
#else
    return MyProc->lxid;
#endif
}

}  // namespace snowdrift

// PostgreSQL 16 introduced soft errors. Before, they are errors like all others.
#if PG_VERSION_NUM < 160000
#define ereturn(context, dummy_value, ...) \
    do {                                   \
        (void)(context);                   \
        ereport(ERROR, __VA_ARGS__);       \
    } while (0)
#endif

// PostgreSQL 16 introduced one function for the privileges on all kinds of objects.
#if PG_VERSION_NUM < 160000
inline AclResult object_aclcheck(Oid, Oid function, Oid role, AclMode mode) {
    return pg_proc_aclcheck(function, role, mode);
}
#endif

/// Begins the definition of the SQL-callable function `name`. Symbols start with the project's
/// name, because all libraries of a backend share one namespace.
#define SNOWDRIFT_FUNCTION(name)                                 \
    extern "C" {                                                 \
    PGDLLEXPORT extern Datum snowdrift_##name(PG_FUNCTION_ARGS); \
    PG_FUNCTION_INFO_V1(snowdrift_##name);                       \
    }                                                            \
    Datum snowdrift_##name([[maybe_unused]] PG_FUNCTION_ARGS)

/// Defines the SQL-callable function `name` as a call of the function that follows.
#define SNOWDRIFT_FUNCTION_AS(name, ...) \
    SNOWDRIFT_FUNCTION(name) { return __VA_ARGS__(fcinfo); }
