#include "pg/node/citus.hpp"

extern "C" {
#include "access/table.h"
#include "catalog/pg_namespace_d.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
}

#include "pg/support/relcache_callback.hpp"
#include "pg/support/scan.hpp"
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

/// A row of one of Citus' tables.
class Row {
 public:
    Row(Relation table, HeapTuple tuple) : table_{table}, tuple_{tuple} {}

    /// A column's value; nothing if it is null, or if this version of Citus has no such column.
    std::optional<Datum> get(const char* column) const {
        const AttrNumber number = get_attnum(RelationGetRelid(table_), column);
        if (number == InvalidAttrNumber) return std::nullopt;
        return get_column(table_, tuple_, number);
    }

    std::optional<int32> get_int32(const char* column) const {
        const auto value = get(column);
        if (!value) return std::nullopt;
        return DatumGetInt32(*value);
    }

    bool is_true(const char* column) const { return DatumGetBool(get(column).value_or(false)); }

 private:
    Relation table_;
    HeapTuple tuple_;
};

/// Calls visit(const Row&) for each row that the snapshot sees.
template <typename Visit>
void for_each_row(Relation table, Snapshot snapshot, Visit visit) {
    (void)find_tuple(table, snapshot, InvalidOid, {}, [&](HeapTuple tuple) {
        visit(Row{table, tuple});
        return false;
    });
}

void read_nodes(Relation nodes, Snapshot snapshot, Membership& membership) {
    List* group_nodes = NIL;  // the ids of the nodes of this server's group
    for_each_row(nodes, snapshot, [&](const Row& row) {
        const auto group = row.get_int32("groupid");
        membership.has_nodes = true;
        membership.has_other_nodes |= group != membership.group;
        if (group == membership.group)
            group_nodes = lappend_int(group_nodes, row.get_int32("nodeid").value_or(0));
    });
    for_each_row(nodes, snapshot, [&](const Row& row) {
        const auto source = row.get_int32("nodeprimarynodeid");
        membership.has_clone |=
            row.is_true("nodeisclone") && source && list_member_int(group_nodes, *source);
    });
    list_free(group_nodes);
}

}  // namespace

Membership read_membership() {
    add_relcache_callback(on_invalidation);
    local_group_table = get_relname_relid("pg_dist_local_group", PG_CATALOG_NAMESPACE);
    node_table = get_relname_relid("pg_dist_node", PG_CATALOG_NAMESPACE);
    Membership membership{};
    membership.has_citus = OidIsValid(local_group_table) && OidIsValid(node_table);
    if (!membership.has_citus) return membership;
    Relation local_group = table_open(local_group_table, AccessShareLock);
    Relation nodes = table_open(node_table, AccessShareLock);
    // Both scans see one state: the promotion of a clone changes both tables in one transaction.
    Snapshot snapshot = RegisterSnapshot(GetCatalogSnapshot(node_table));
    for_each_row(local_group, snapshot,
                 [&](const Row& row) { membership.group = row.get_int32("groupid"); });
    read_nodes(nodes, snapshot, membership);
    UnregisterSnapshot(snapshot);
    table_close(nodes, AccessShareLock);
    table_close(local_group, AccessShareLock);
    return membership;
}

}  // namespace snowdrift::citus
