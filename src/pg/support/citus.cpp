#include "pg/support/citus.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_namespace_d.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
}

#include "pg/support/relcache_callback.hpp"
#include "pg/support/settings.hpp"

namespace snowdrift::citus {
namespace {

// Only superusers can create tables in pg_catalog, where Citus has its own.
Oid local_group_table = InvalidOid;
Oid node_table = InvalidOid;

void on_invalidation(Oid relation) {
    // Without Citus, any new table may be one of its tables.
    const bool is_relevant = !OidIsValid(relation) || !OidIsValid(local_group_table) ||
                             relation == local_group_table || relation == node_table;
    if (is_relevant) ++settings::node_version;
}

/// Calls visit(int32) with the column `groupid` of each row.
template <typename Visit>
void for_each_group(Oid table_oid, Visit visit) {
    Relation table = table_open(table_oid, AccessShareLock);
    const AttrNumber column = get_attnum(table_oid, "groupid");
    SysScanDesc scan = systable_beginscan(table, InvalidOid, false, nullptr, 0, nullptr);
    for (HeapTuple tuple = systable_getnext(scan);
         HeapTupleIsValid(tuple) && column != InvalidAttrNumber; tuple = systable_getnext(scan)) {
        bool is_null;
        const Datum group = heap_getattr(tuple, column, RelationGetDescr(table), &is_null);
        if (!is_null) visit(DatumGetInt32(group));
    }
    systable_endscan(scan);
    table_close(table, AccessShareLock);
}

}  // namespace

Membership read_membership() {
    add_relcache_callback(on_invalidation);
    local_group_table = get_relname_relid("pg_dist_local_group", PG_CATALOG_NAMESPACE);
    node_table = get_relname_relid("pg_dist_node", PG_CATALOG_NAMESPACE);
    Membership membership{};
    membership.has_citus = OidIsValid(local_group_table) && OidIsValid(node_table);
    if (!membership.has_citus) return membership;
    for_each_group(local_group_table, [&](int32 group) { membership.group = group; });
    for_each_group(node_table, [&](int32 group) {
        membership.has_nodes = true;
        membership.has_other_nodes |= group != membership.group;
    });
    return membership;
}

}  // namespace snowdrift::citus
