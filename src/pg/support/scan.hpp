// Scans of whole tables that are small, such as those of the extension and some catalogs.
#pragma once

#include "pg/support/postgres.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"
}

namespace snowdrift {

/// Calls visit(HeapTuple) for each row of an open table that is visible to `snapshot` (null: a
/// current catalog snapshot) until it returns true. Returns whether a call returned true.
template <typename Visit>
bool find_tuple(Relation table, Snapshot snapshot, Visit visit) {
    bool found = false;
    SysScanDesc scan = systable_beginscan(table, InvalidOid, false, snapshot, 0, nullptr);
    for (HeapTuple tuple = systable_getnext(scan); HeapTupleIsValid(tuple) && !found;
         tuple = systable_getnext(scan))
        found = visit(tuple);
    systable_endscan(scan);
    return found;
}

}  // namespace snowdrift
