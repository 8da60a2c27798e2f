// A library with errors that ./dev test --sanitizers and --valgrind must find: they show that the
// sanitizers work in the server. Not part of the extension.
#include "pg/support/postgres.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_transform.h"
#include "catalog/pg_type.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/syscache.h"

PG_MODULE_MAGIC;
}

namespace {

constexpr Size size = 10;

/// A chunk of `size` uninitialized bytes. Volatile, so that the compiler keeps the errors.
volatile char* allocate() { return static_cast<volatile char*>(palloc(size)); }

}  // namespace

/// Reads a chunk after pfree().
SNOWDRIFT_FUNCTION(use_after_pfree) {
    volatile char* const chunk = allocate();
    *chunk = 1;
    pfree(const_cast<char*>(chunk));
    PG_RETURN_INT32(*chunk);
}

/// Reads the byte after a chunk.
SNOWDRIFT_FUNCTION(read_past_end) { PG_RETURN_INT32(allocate()[size]); }

/// Reads a row of a catalog after the release of the cache's entry.
SNOWDRIFT_FUNCTION(use_after_release) {
    HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(INT4OID));
    const volatile auto& row = *reinterpret_cast<Form_pg_type>(GETSTRUCT(tuple));
    ReleaseSysCache(tuple);
    PG_RETURN_INT32(row.typlen);
}

/// Reads a relation after it is closed.
SNOWDRIFT_FUNCTION(use_after_close) {
    // A catalog that the server itself does not keep open.
    Relation table = table_open(TransformRelationId, AccessShareLock);
    const volatile auto& relation = *table;
    table_close(table, AccessShareLock);
    PG_RETURN_INT32(static_cast<int32>(relation.rd_id));
}

/// Reads a page of a table after it is unpinned.
SNOWDRIFT_FUNCTION(use_after_unpin) {
    Relation table = table_open(RelationRelationId, AccessShareLock);
    const Buffer buffer = ReadBuffer(table, 0);
    const volatile char* const page = BufferGetPage(buffer);
    ReleaseBuffer(buffer);
    table_close(table, AccessShareLock);
    PG_RETURN_INT32(*page);
}

/// Adds 1 to the largest int.
SNOWDRIFT_FUNCTION(signed_integer_overflow) {
    volatile int32 largest = PG_INT32_MAX;
    PG_RETURN_INT32(largest + 1);
}

/// Branches on an uninitialized byte.
SNOWDRIFT_FUNCTION(uninitialized_read) {
    if (*allocate() == 7) elog(NOTICE, "branched");
    PG_RETURN_INT32(0);
}
