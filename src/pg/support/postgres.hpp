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
