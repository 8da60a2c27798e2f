// Scans of catalogs, and of whole tables that are small, such as those of the extension.
#pragma once

#include <initializer_list>
#include <optional>

#include "pg/support/postgres.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "executor/spi.h"
#include "storage/lmgr.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/snapshot.h"
}

namespace snowdrift {

/// A column of a row of the table; nothing if it is null. Calls a function of SPI, which needs no
/// connection, because heap_getattr() is inline, and calls functions that only newer minor releases
/// of PostgreSQL have.
inline std::optional<Datum> get_column(Relation table, HeapTuple row, int column) {
    bool is_null;
    const Datum value = SPI_getbinval(row, RelationGetDescr(table), column, &is_null);
    if (is_null) return std::nullopt;
    return value;
}

/// A condition on a column of a catalog, of type oid or integer.
struct CatalogKey {
    AttrNumber column;
    Datum value;
    Oid equal = F_OIDEQ;
};

/// Calls visit(HeapTuple) for each row of an open table that is visible to `snapshot` (null: a
/// current catalog snapshot), and meets the conditions, until it returns true. Returns whether a
/// call returned true. The conditions are on the leading columns of `index`. If `index` is
/// InvalidOid, scans the table.
template <typename Visit>
bool find_tuple(Relation table, Snapshot snapshot, Oid index,
                std::initializer_list<CatalogKey> conditions, Visit visit) {
    Assert(CheckRelationLockedByMe(table, AccessShareLock, true));
    ScanKeyData keys[3];
    Assert(conditions.size() <= lengthof(keys));
    int count = 0;
    for (const CatalogKey& condition : conditions)
        ScanKeyInit(&keys[count++], condition.column, BTEqualStrategyNumber, condition.equal,
                    condition.value);
    SysScanDesc scan = systable_beginscan(table, index, OidIsValid(index), snapshot, count, keys);
    bool found = false;
    for (HeapTuple tuple = systable_getnext(scan); tuple != nullptr && !found;
         tuple = systable_getnext(scan))
        found = visit(tuple);
    systable_endscan(scan);
    return found;
}

/// The same for the current rows of a catalog.
template <typename Visit>
bool find_tuple(Oid catalog, Oid index, std::initializer_list<CatalogKey> conditions, Visit visit) {
    Relation table = table_open(catalog, AccessShareLock);
    const bool found = find_tuple(table, nullptr, index, conditions, visit);
    table_close(table, AccessShareLock);
    return found;
}

}  // namespace snowdrift
