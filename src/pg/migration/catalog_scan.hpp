// Scans of system catalogs.
#pragma once

#include <initializer_list>

#include "pg/support/postgres.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "utils/fmgroids.h"
#include "utils/snapmgr.h"
}

namespace snowdrift {

/// A condition on a column of a catalog, of type oid or integer.
struct CatalogKey {
    AttrNumber column;
    Datum value;
    Oid equal = F_OIDEQ;
};

/// Calls visit(HeapTuple) for each current row of a catalog that meets the conditions. The
/// conditions are on the leading columns of `index`. If `index` is InvalidOid, scans the table.
template <typename Visit>
void for_each_row(Oid catalog, Oid index, std::initializer_list<CatalogKey> conditions,
                  Visit visit) {
    ScanKeyData keys[3];
    Assert(conditions.size() <= lengthof(keys));
    int count = 0;
    for (const CatalogKey& condition : conditions)
        ScanKeyInit(&keys[count++], condition.column, BTEqualStrategyNumber, condition.equal,
                    condition.value);
    Relation table = table_open(catalog, AccessShareLock);
    SysScanDesc scan = systable_beginscan(table, index, OidIsValid(index), nullptr, count, keys);
    for (HeapTuple tuple = systable_getnext(scan); HeapTupleIsValid(tuple);
         tuple = systable_getnext(scan))
        visit(tuple);
    systable_endscan(scan);
    table_close(table, AccessShareLock);
}

}  // namespace snowdrift
