// The PostgreSQL headers that every file in src/pg needs, and the macros that define SQL-callable
// functions. Outside src/pg, only bench/functions.cpp includes this file.
#pragma once

// PostgreSQL 15 defines this as empty, because it expects libraries to export every symbol. This
// library exports only the symbols that the server looks up.
#define PGDLLEXPORT __attribute__((visibility("default")))

// PostgreSQL built without NLS defines these functions as macros, so include their declarations
// first.
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

/// The number of the current transaction, unique within this session.
inline LocalTransactionId current_transaction() {
#if PG_VERSION_NUM >= 170000
    return MyProc->vxid.lxid;
#else
    return MyProc->lxid;
#endif
}

}  // namespace snowdrift

// PostgreSQL 16 introduced soft errors. Earlier versions raise ordinary errors.
#if PG_VERSION_NUM < 160000
#define ereturn(context, dummy_value, ...) \
    do {                                   \
        (void)(context);                   \
        ereport(ERROR, __VA_ARGS__);       \
    } while (0)
#endif

// PostgreSQL 16 introduced one function that checks privileges on all kinds of objects.
#if PG_VERSION_NUM < 160000
inline AclResult object_aclcheck(Oid, Oid function, Oid role, AclMode mode) {
    return pg_proc_aclcheck(function, role, mode);
}
#endif

// PostgreSQL 19 checks that the argument is a pointer, in a way that rejects nullptr.
#if PG_VERSION_NUM >= 190000
#undef PG_RETURN_POINTER
#define PG_RETURN_POINTER(pointer) return reinterpret_cast<Datum>(static_cast<const void*>(pointer))
#endif

/// Begins the definition of the SQL-callable function `name`. Its symbol starts with the project's
/// name, because all libraries in a backend share one namespace.
#define SNOWDRIFT_FUNCTION(name)                                 \
    extern "C" {                                                 \
    PGDLLEXPORT extern Datum snowdrift_##name(PG_FUNCTION_ARGS); \
    PG_FUNCTION_INFO_V1(snowdrift_##name);                       \
    }                                                            \
    Datum snowdrift_##name([[maybe_unused]] PG_FUNCTION_ARGS)

/// Defines the SQL-callable function `name` as a call of the function in the second argument.
#define SNOWDRIFT_FUNCTION_AS(name, ...) \
    SNOWDRIFT_FUNCTION(name) { return __VA_ARGS__(fcinfo); }
