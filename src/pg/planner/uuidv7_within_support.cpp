// The planner support functions of uuidv7_within() and uuidv7_within_pruned().
//
// A range of UUIDs can also contain UUIDs of other versions, and PostgreSQL does not interpolate
// between two bounds of a histogram of uuid. The predicate therefore stays in the query: it is
// exact and has its own estimate, and indexes use the comparisons that it implies. On a table with
// children, conditions that prune them are added, and uuidv7_within_pruned() replaces the
// predicate. It returns the same results; the planner simplifies the result of a simplification
// again, and would add the conditions to uuidv7_within() repeatedly.
#include <algorithm>

#include "pg/planner/predicate_call.hpp"
#include "pg/planner/range_selectivity.hpp"
#include "pg/planner/uuidv7_selectivity.hpp"
#include "pg/support/datum.hpp"
#include "pg/support/postgres.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"
}

using namespace snowdrift;

namespace {

/// id >= ALL (ARRAY[bound]), or <=. It prunes partitions as id >= bound does, but it is not an
/// index condition, and the planner estimates it separately from the other bound.
Expr* make_pruning_condition(PlannerInfo* root, const PredicateCall& predicate, int16 strategy,
                             Expr* bound) {
    auto* const array = makeNode(ArrayExpr);
    array->array_typeid = UUIDARRAYOID;
    array->element_typeid = UUIDOID;
    array->elements = list_make1(bound);
    array->location = -1;
    auto* const condition = makeNode(ScalarArrayOpExpr);
    condition->opno = predicate.comparison(strategy);
    condition->args = list_make2(copy_of(predicate.id()),
                                 eval_const_expressions(root, reinterpret_cast<Node*>(array)));
    condition->location = -1;
    return reinterpret_cast<Expr*>(condition);
}

/// The conditions that prune partitions; null if there are none.
List* make_pruning_conditions(PlannerInfo* root, const PredicateCall& predicate) {
    if (!predicate.may_be_replaced() || !predicate.is_worthwhile(root)) return nullptr;
    return list_make2(make_pruning_condition(root, predicate, BTGreaterEqualStrategyNumber,
                                             predicate.least(root)),
                      make_pruning_condition(root, predicate, BTLessEqualStrategyNumber,
                                             predicate.greatest(root)));
}

RangeTblEntry* find_entry(PlannerInfo* root, int relation) {
    const bool is_found = relation > 0 && relation <= list_length(root->parse->rtable);
    return is_found ? planner_rt_fetch(relation, root) : nullptr;
}

/// Whether a relation of the query is a table, and not a subquery or a function.
bool is_table(PlannerInfo* root, int relation) {
    const RangeTblEntry* const entry = find_entry(root, relation);
    return entry != nullptr && entry->rtekind == RTE_RELATION;
}

/// The only relation that an expression refers to; 0 if it refers to none or several. Ignores the
/// outer joins that can make the expression null: PostgreSQL 16 and later include them.
int index_of_relation(PlannerInfo* root, Expr* expression) {
    const Bitmapset* const relations = pull_varnos(root, reinterpret_cast<Node*>(expression));
    int result = 0;
    for (int relation = bms_next_member(relations, -1); relation > 0;
         relation = bms_next_member(relations, relation)) {
        const RangeTblEntry* const entry = find_entry(root, relation);
        if (entry != nullptr && entry->rtekind == RTE_JOIN) continue;
        if (result != 0) return 0;
        result = relation;
    }
    return result;
}

/// The parent of a relation: the table whose partition or other child it is, or the UNION ALL
/// subquery that contains it; 0 if there is none.
int parent_of(PlannerInfo* root, int relation) {
    Assert(root->append_rel_array == nullptr ||
           (relation >= 0 && relation < root->simple_rel_array_size));
    const bool is_child =
        root->append_rel_array != nullptr && root->append_rel_array[relation] != nullptr;
    return is_child ? static_cast<int>(root->append_rel_array[relation]->parent_relid) : 0;
}

/// Whether a relation is a partition or another child of a table. It inherits the table's
/// conditions.
bool is_child(PlannerInfo* root, int relation) { return is_table(root, parent_of(root, relation)); }

/// Whether a relation is a table with partitions or other children, or a table in UNION ALL.
bool is_prunable(PlannerInfo* root, int relation) {
    return is_table(root, relation) && !is_child(root, relation) &&
           (find_entry(root, relation)->inh || parent_of(root, relation) > 0);
}

constexpr const char* predicate_name = "uuidv7_within";
constexpr Oid predicate_types[] = {UUIDOID, TSTZRANGEOID};

/// uuidv7_within(), in the extension's schema, where other roles may create functions; InvalidOid
/// if the user cannot call it. `support_schema`: the schema of its support function.
Oid find_uuidv7_within(Oid support_schema) {
    Assert(OidIsValid(support_schema));
    CatCList* const functions =
        SearchSysCacheList2(PROCNAMEARGSNSP, CStringGetDatum(predicate_name),
                            PointerGetDatum(buildoidvector(predicate_types, 2)));
    Oid result = InvalidOid;
    for (int i = 0; i < functions->n_members; ++i) {
        HeapTuple tuple = &functions->members[i]->tuple;
        const Oid function = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple))->oid;
        if (find_support_schema(function) == support_schema) result = function;
    }
    ReleaseCatCacheList(functions);
    return OidIsValid(result) && may_call(result) ? result : InvalidOid;
}

/// A call of a predicate with the arguments of `call`; null if the predicate is InvalidOid.
FuncExpr* make_predicate(Oid predicate, const FuncExpr* call) {
    if (!OidIsValid(predicate)) return nullptr;
    return makeFuncExpr(predicate, BOOLOID, copy_of(call->args), InvalidOid, InvalidOid,
                        COERCE_EXPLICIT_CALL);
}

PredicateCall predicate_of(Oid function, List* arguments) {
    return {function, arguments, predicate_name};
}

/// uuidv7_within_pruned() and the pruning conditions, if there may be tables to prune; null to keep
/// uuidv7_within().
Expr* simplify_within(PlannerInfo* root, const FuncExpr* call) {
    if (root == nullptr) return nullptr;
    if (!is_prunable(root, index_of_relation(root, static_cast<Expr*>(linitial(call->args)))))
        return nullptr;
    List* const conditions = make_pruning_conditions(root, predicate_of(call->funcid, call->args));
    const Oid pruned_predicate = function_named(
        "uuidv7_within_pruned", find_support_schema(call->funcid), predicate_types, 2);
    FuncExpr* const pruned = make_predicate(pruned_predicate, call);
    return conditions != NIL && pruned != nullptr ? make_andclause(lcons(pruned, conditions))
                                                  : nullptr;
}

/// uuidv7_within() for a child, because its partial indexes can contain that predicate; null to
/// keep uuidv7_within_pruned().
FuncExpr* simplify_pruned(PlannerInfo* root, const FuncExpr* call) {
    if (root == nullptr) return nullptr;
    const int relation = index_of_relation(root, static_cast<Expr*>(linitial(call->args)));
    if (!is_child(root, relation)) return nullptr;
    return make_predicate(find_uuidv7_within(find_support_schema(call->funcid)), call);
}

/// The share of rows that satisfy the predicate.
double estimate(const SupportRequestSelectivity* request, const PredicateCall& predicate) {
    if (!predicate.may_be_replaced()) return DEFAULT_RANGE_INEQ_SEL;
    const auto constant = [&](Expr* bound) -> const Const* {
        const Node* const value =
            estimate_expression_value(request->root, reinterpret_cast<Node*>(bound));
        const auto* const result = reinterpret_cast<const Const*>(value);
        return IsA(value, Const) && !result->constisnull ? result : nullptr;
    };
    const Const* const first = constant(predicate.least(request->root));
    const Const* const last = constant(predicate.greatest(request->root));
    if (first != nullptr && last != nullptr) {
        const auto share = estimate_among_versions(*request, get_id<Uuidv7>(first->constvalue),
                                                   get_id<Uuidv7>(last->constvalue));
        if (share) return *share;
    }
    return estimate_range(request->root, predicate, request->varRelid);
}

/// The share of rows that satisfy the predicate, among those that satisfy its pruning conditions:
/// PostgreSQL multiplies the selectivities of conditions.
double estimate_pruned(const SupportRequestSelectivity* request, const PredicateCall& predicate) {
    double result = estimate(request, predicate);
    ListCell* cell;
    foreach (cell, make_pruning_conditions(request->root, predicate)) {
        const double pruned =
            clause_selectivity(request->root, static_cast<Node*>(lfirst(cell)), request->varRelid,
                               request->jointype, request->sjinfo);
        if (pruned > 0) result /= pruned;
    }
    return std::min(result, 1.0);
}

/// Answers the requests of both functions. `is_pruned`: the function is uuidv7_within_pruned().
void* answer(Node* request, bool is_pruned) {
    if (IsA(request, SupportRequestSimplify)) {
        const auto* const call = reinterpret_cast<const SupportRequestSimplify*>(request);
        if (is_pruned) return simplify_pruned(call->root, call->fcall);
        return simplify_within(call->root, call->fcall);
    }
    if (IsA(request, SupportRequestIndexCondition)) {
        const auto* const index = reinterpret_cast<SupportRequestIndexCondition*>(request);
        Assert(index->lossy);  // the planner's default
        return find_index_conditions(index, predicate_name);
    }
    if (IsA(request, SupportRequestSelectivity)) {
        auto* const question = reinterpret_cast<SupportRequestSelectivity*>(request);
        const PredicateCall predicate = predicate_of(question->funcid, question->args);
        is_pruned |= is_child(question->root, index_of_relation(question->root, predicate.id()));
        question->selectivity =
            is_pruned ? estimate_pruned(question, predicate) : estimate(question, predicate);
        return request;
    }
    return nullptr;
}

}  // namespace

/// The support function of uuidv7_within()
SNOWDRIFT_FUNCTION(uuidv7_within_support) {
    PG_RETURN_POINTER(answer(reinterpret_cast<Node*>(PG_GETARG_POINTER(0)), false));
}

/// The support function of uuidv7_within_pruned()
SNOWDRIFT_FUNCTION(uuidv7_within_pruned_support) {
    PG_RETURN_POINTER(answer(reinterpret_cast<Node*>(PG_GETARG_POINTER(0)), true));
}
