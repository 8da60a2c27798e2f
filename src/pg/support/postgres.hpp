// PostgreSQL's headers, as every file of this wing needs them, and the one macro that opens an
// SQL-callable function. Nothing outside src/pg includes this.
#pragma once

// PostgreSQL 15 leaves this empty, since it expects libraries to export every symbol; ours are
// hidden but for those that the server looks up.
#define PGDLLEXPORT __attribute__((visibility("default")))

// The standard library may declare these functions, which PostgreSQL replaces by macros where it is
// built without NLS.
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

/// This session's transaction, by a number that no other one of it has.
inline LocalTransactionId current_transaction() {
#if PG_VERSION_NUM >= 170000
    return MyProc->vxid.lxid;
#else
    return MyProc->lxid;
#endif
}

}  // namespace snowdrift

// Errors that the caller may take softly came with 16; before, they are like all others.
#if PG_VERSION_NUM < 160000
#define ereturn(context, dummy_value, ...) \
    do {                                   \
        (void)(context);                   \
        ereport(ERROR, __VA_ARGS__);       \
    } while (0)
#endif

// So did one function for the privileges on all kinds of objects.
#if PG_VERSION_NUM < 160000
inline AclResult object_aclcheck(Oid, Oid function, Oid role, AclMode mode) {
    return pg_proc_aclcheck(function, role, mode);
}
#endif

/// Opens the definition of the SQL-callable function `name`. The symbols carry the project's name
/// since all libraries of a backend share one namespace.
#define SNOWDRIFT_FUNCTION(name)                                 \
    extern "C" {                                                 \
    PGDLLEXPORT extern Datum snowdrift_##name(PG_FUNCTION_ARGS); \
    PG_FUNCTION_INFO_V1(snowdrift_##name);                       \
    }                                                            \
    Datum snowdrift_##name([[maybe_unused]] PG_FUNCTION_ARGS)
