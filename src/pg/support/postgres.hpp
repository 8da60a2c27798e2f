// What every file in src/pg needs from PostgreSQL: the headers, and the macros that define
// SQL-callable functions. The other files of this folder serve all other folders: the clock, the
// settings, checks of arguments, conversions, rows, scans, and the lookup of the extension's own
// objects. They use no other folder of src/pg.
//
// The rule: no object with a destructor is alive where an error may be raised, because an error of
// PostgreSQL is a longjmp, which skips destructors. Memory belongs to PostgreSQL's memory contexts,
// locks and buffers to its resource owners, which clean up after an error. The only destructor is
// that of slots::Lock, under which nothing raises errors. The library is compiled without
// exceptions and RTTI.
//
// What can go wrong: a name could stand for an object of another role, so extension.hpp finds the
// extension's objects through its C functions, which only superusers can create. A trigger or an
// expression of another role's table could run with the caller's privileges, so run_as_owner.cpp
// becomes the table's owner before it executes a statement, and insert_row.hpp runs no such code. A
// lock that a cursor takes could end before the transaction does: see lock_owner.hpp. The clock can
// be set at any time, so only clock.hpp reads it. PostgreSQL's versions differ, so only
// versions.hpp tests the version.
//
// The proof in docs/guarantees.md does not rely on this folder. On that page, "Who can do what"
// relies on extension.hpp and run_as_owner.cpp, and "IDs of past times" on insert_row.hpp.
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
}

#include "pg/support/versions.hpp"

static_assert(sizeof(void*) == 8, "Snowdrift requires a 64-bit machine");

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
