#include "pg/exits/statements.hpp"

#include <cstring>

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_foreign_table.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_language_d.h"
#include "catalog/pg_proc.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "tcop/pquery.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/portal.h"
#include "utils/rel.h"
#include "utils/syscache.h"
}

#include "pg/support/citus.hpp"
#include "pg/support/postgres.hpp"

namespace snowdrift::statements {
namespace {

// ---- functions

/// Whether this is one of PostgreSQL's own volatile functions that are often used in defaults of
/// columns. They have no side effects outside the transaction, or only effects that are logged as
/// WAL.
bool is_harmless(Oid function) {
    switch (function) {
        case F_NEXTVAL:
        case F_CLOCK_TIMESTAMP:
        case F_TIMEOFDAY:
        case F_RANDOM_:
            return true;
        default:
            return generates_uuids(function);
    }
}

/// The properties that decide whether a function can send data out of the server.
struct Function {
    Oid language;
    char volatility;
    bool is_ours;
    bool is_aggregate;
};

Function describe(Oid oid) {
    HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(oid));
    if (!HeapTupleIsValid(tuple)) return {InvalidOid, PROVOLATILE_VOLATILE, false, false};
    const auto& row = *reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple));
    Function function{row.prolang, row.provolatile, false, row.prokind == PROKIND_AGGREGATE};
    if (row.prolang == ClanguageId) {
        bool is_null;
        const Datum symbol = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &is_null);
        char* const name = is_null ? pstrdup("") : TextDatumGetCString(symbol);
        function.is_ours = std::strncmp(name, "snowdrift_", std::strlen("snowdrift_")) == 0;
        pfree(name);
    }
    ReleaseSysCache(tuple);
    return function;
}

bool is_contained_function(Oid oid) {
    const Function function = describe(oid);
    if (function.is_ours) return true;
    // Aggregates that are not PostgreSQL's own call other functions.
    if (function.is_aggregate) return oid < FirstNormalObjectId;
    switch (function.language) {
        case INTERNALlanguageId:
            return function.volatility != PROVOLATILE_VOLATILE || is_harmless(oid);
        case ClanguageId:
            return function.volatility != PROVOLATILE_VOLATILE;
        default:
            return false;
    }
}

// ---- expressions

bool calls_other_function(Oid function, void*) { return !is_contained_function(function); }

/// Whether the expression, or the list of expressions, calls a function that is not contained.
bool has_exit(Node* node, void* context) {
    if (node == nullptr) return false;
    if (check_functions_in_node(node, calls_other_function, context)) return true;
    return walk_expression(node, has_exit, context);
}

template <typename Expressions>
bool are_contained(Expressions* expressions) {
    return !has_exit(reinterpret_cast<Node*>(expressions), nullptr);
}

// ---- plans
// NOLINTBEGIN(misc-no-recursion): plans are trees

bool is_contained(Plan* plan);

bool are_all_contained(List* plans) {
    ListCell* cell;
    foreach (cell, plans)
        if (!is_contained(static_cast<Plan*>(lfirst(cell)))) return false;
    return true;
}

/// Whether the expressions that only this type of plan node has are contained. False for types that
/// call other code. Expressions that cannot be volatile, such as those of index scans, are not
/// visited.
bool is_contained_node(Plan* plan) {
    switch (nodeTag(plan)) {
        case T_ForeignScan:
        case T_CustomScan:
        case T_TableFuncScan:
        case T_SampleScan:
            return false;
        case T_Append:
            return are_all_contained(reinterpret_cast<Append*>(plan)->appendplans);
        case T_MergeAppend:
            return are_all_contained(reinterpret_cast<MergeAppend*>(plan)->mergeplans);
        case T_SubqueryScan:
            return is_contained(reinterpret_cast<SubqueryScan*>(plan)->subplan);
        case T_Result:
            return are_contained(reinterpret_cast<Result*>(plan)->resconstantqual);
        case T_ValuesScan:
            return are_contained(reinterpret_cast<ValuesScan*>(plan)->values_lists);
        case T_FunctionScan:
            return are_contained(reinterpret_cast<FunctionScan*>(plan)->functions);
        case T_NestLoop:
        case T_MergeJoin:
        case T_HashJoin:
            return are_contained(reinterpret_cast<Join*>(plan)->joinqual);
        case T_Limit: {
            const auto* const limit = reinterpret_cast<Limit*>(plan);
            return are_contained(limit->limitCount) && are_contained(limit->limitOffset);
        }
        case T_WindowAgg: {
            const auto* const window = reinterpret_cast<WindowAgg*>(plan);
            return are_contained(window->startOffset) && are_contained(window->endOffset);
        }
        case T_ModifyTable: {
            const auto* const modification = reinterpret_cast<ModifyTable*>(plan);
            return are_contained(modification->returningLists) &&
                   are_contained(modification->withCheckOptionLists) &&
                   are_contained(modification->onConflictSet) &&
                   are_contained(modification->onConflictWhere) &&
                   are_contained(modification->mergeActionLists);
        }
        default:
            return true;
    }
}

bool is_contained(Plan* plan) {
    check_stack_depth();
    return plan == nullptr || (is_contained_node(plan) && are_contained(plan->targetlist) &&
                               are_contained(plan->qual) && is_contained(plan->lefttree) &&
                               is_contained(plan->righttree));
}

// NOLINTEND(misc-no-recursion)

// ---- tables

/// Whether the catalog has a row whose key, an OID, is `first` or greater.
bool has_row(Oid catalog, Oid index, AttrNumber column, Oid first) {
    ScanKeyData key;
    ScanKeyInit(&key, column, BTGreaterEqualStrategyNumber, F_OIDGE, ObjectIdGetDatum(first));
    Relation table = table_open(catalog, AccessShareLock);
    SysScanDesc scan = systable_beginscan(table, index, true, nullptr, 1, &key);
    const bool is_found = HeapTupleIsValid(systable_getnext(scan));
    systable_endscan(scan);
    table_close(table, AccessShareLock);
    return is_found;
}

/// Whether the database has an access method that is not PostgreSQL's own. Tables and indexes that
/// use it may send data anywhere.
bool has_foreign_access_methods() {
    return has_row(AccessMethodRelationId, AmOidIndexId, Anum_pg_am_oid, FirstNormalObjectId);
}

bool has_foreign_partitions(Oid table) {
    if (!has_row(ForeignTableRelationId, ForeignTableRelidIndexId, Anum_pg_foreign_table_ftrelid,
                 InvalidOid))
        return false;
    List* const partitions = find_all_inheritors(table, NoLock, nullptr);
    ListCell* cell;
    foreach (cell, partitions)
        if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_FOREIGN_TABLE) return true;
    return false;
}

bool is_contained_text(const char* expression) {
    return expression == nullptr || are_contained(static_cast<Node*>(stringToNode(expression)));
}

/// Whether the table's CHECK constraints and the conditions of its triggers are contained.
bool has_contained_expressions(Relation table) {
    bool result = true;
    if (const auto* const constraints = RelationGetDescr(table)->constr)
        for (int i = 0; i < constraints->num_check; ++i)
            result = result && is_contained_text(constraints->check[i].ccbin);
    if (const auto* const triggers = table->trigdesc)
        for (int i = 0; i < triggers->numtriggers; ++i)
            result = result && is_contained_text(triggers->triggers[i].tgqual);
    return result;
}

bool has_contained_defaults(Relation table) {
    bool result = true;
    if (const auto* const constraints = RelationGetDescr(table)->constr)
        for (int i = 0; i < constraints->num_defval; ++i)
            result = result && is_contained_text(constraints->defval[i].adbin);
    return result;
}

/// Whether a row that is written to the table stays on this server, and writing it calls only
/// contained functions. The caller holds a lock on the table.
bool is_contained_table(Oid oid) {
    const char kind = get_rel_relkind(oid);
    if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE) return false;
    Relation table = table_open(oid, NoLock);
    const bool result = has_contained_expressions(table);
    table_close(table, NoLock);
    return result && (kind == RELKIND_RELATION || !has_foreign_partitions(oid));
}

/// Whether all tables of the plan are on this server, and the tables that it changes are contained.
bool are_tables_contained(const PlannedStmt* plan) {
    bool writes = false;
    ListCell* cell;
    foreach (cell, plan->rtable) {
        const auto* const entry = lfirst_node(RangeTblEntry, cell);
        if (entry->rtekind != RTE_RELATION) continue;
        if (entry->relkind == RELKIND_FOREIGN_TABLE) return false;
        if (entry->rellockmode < RowExclusiveLock || entry->relkind == RELKIND_VIEW) continue;
        if (!is_contained_table(entry->relid)) return false;
        writes = true;
    }
    return !writes || !has_foreign_access_methods();
}

/// Whether the command copies rows from a file, or from the client, to a contained table. False
/// with Citus, which sends the rows to other servers.
bool is_contained_copy(const CopyStmt* copy) {
    if (!copy->is_from || copy->is_program || copy->whereClause != nullptr ||
        citus::read_membership().has_citus)
        return false;
    const Oid oid = RangeVarGetRelid(copy->relation, AccessShareLock, true);
    if (!OidIsValid(oid) || !is_contained_table(oid) || has_foreign_access_methods()) return false;
    Relation table = table_open(oid, NoLock);
    const bool result = has_contained_defaults(table);
    table_close(table, NoLock);
    return result;
}

bool is_contained_utility(Node* command) {
    switch (nodeTag(command)) {
        case T_TransactionStmt:
        case T_PrepareStmt:
        case T_DeallocateStmt:
        case T_FetchStmt:  // the cursor's query is checked when it runs
        case T_ClosePortalStmt:
        case T_VariableSetStmt:
        case T_VariableShowStmt:
        case T_LockStmt:
            return true;
        case T_CopyStmt:
            return is_contained_copy(reinterpret_cast<CopyStmt*>(command));
        default:
            return false;
    }
}

}  // namespace

bool is_foreign_code(Oid oid) {
    const Function function = describe(oid);
    switch (function.language) {
        case INTERNALlanguageId:
        case SQLlanguageId:
            return false;
        case ClanguageId:
            return !function.is_ours && function.volatility == PROVOLATILE_VOLATILE;
        default:
            return true;
    }
}

bool is_contained(PlannedStmt* plan) {
    if (plan->utilityStmt != nullptr) return is_contained_utility(plan->utilityStmt);
    return !plan->parallelModeNeeded && are_tables_contained(plan) &&
           is_contained(plan->planTree) && are_all_contained(plan->subplans);
}

bool is_current_contained() {
    if (ActivePortal == nullptr || ActivePortal->stmts == NIL) return false;
    ListCell* cell;
    foreach (cell, ActivePortal->stmts)
        if (!is_contained(lfirst_node(PlannedStmt, cell))) return false;
    return true;
}

}  // namespace snowdrift::statements
