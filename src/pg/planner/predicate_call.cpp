#include "pg/planner/predicate_call.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "pg/support/extension.hpp"
#include "pg/support/postgres.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/tlist.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
}

namespace snowdrift {
namespace {

bool is_in_sql(Oid function) {
    HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
    if (tuple == nullptr) return false;
    const bool is_sql = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple))->prolang == SQLlanguageId;
    ReleaseSysCache(tuple);
    return is_sql;
}

/// Whether two functions have the same planner support function and argument types, as a predicate
/// and its negation do.
bool is_same_or_negation(Oid a, Oid b) {
    if (get_func_support(a) != get_func_support(b)) return false;
    Oid* types_of_a;
    Oid* types_of_b;
    int count_of_a;
    int count_of_b;
    (void)get_func_signature(a, &types_of_a, &count_of_a);
    (void)get_func_signature(b, &types_of_b, &count_of_b);
    return std::equal(types_of_a, types_of_a + count_of_a, types_of_b, types_of_b + count_of_b);
}

/// Whether an expression calls the function with the OID `*function`, its negation, or a function
/// in SQL. The planner may have replaced the call by its negation, and may replace a function in
/// SQL by such a call.
bool calls(Node* expression, void* function) {
    const auto may_be = [](Oid called, void* wanted) {
        return is_same_or_negation(called, *static_cast<Oid*>(wanted)) || is_in_sql(called);
    };
    if (expression == nullptr) return false;
    return check_functions_in_node(expression, may_be, function) ||
           walk_expression(expression, calls, function);
}

/// Whether a query has grouping sets, and groups by an expression that may call `function` or its
/// negation.
bool groups_by(const Query* query, Oid function) {
    if (query->groupingSets == NIL) return false;
    ListCell* cell;
    foreach (cell, query->groupClause) {
        auto* const clause = static_cast<SortGroupClause*>(lfirst(cell));
        if (calls(get_sortgroupclause_expr(clause, query->targetList), &function)) return true;
    }
    return false;
}

}  // namespace

bool may_call(Oid function) {
    return object_aclcheck(ProcedureRelationId, function, GetUserId(), ACL_EXECUTE) == ACLCHECK_OK;
}

Oid find_support_schema(Oid function) {
    const Oid support = get_func_support(function);
    return OidIsValid(support) ? get_func_namespace(support) : InvalidOid;
}

Oid function_named(const char* name, Oid schema, const Oid* types, int count) {
    const Oid function =
        GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum(name),
                        PointerGetDatum(buildoidvector(types, count)), ObjectIdGetDatum(schema));
    return OidIsValid(function) && may_call(function) ? function : InvalidOid;
}

bool is_predicate_bound(const Node* expression, const char* kind, const char* predicate) {
    if (!IsA(expression, FuncExpr)) return false;
    const Oid function = reinterpret_cast<const FuncExpr*>(expression)->funcid;
    const char* const name = get_func_name(function);
    if (name == nullptr) return false;
    const std::string_view text{name};
    return text.starts_with(psprintf("%s_", kind)) && text.ends_with(psprintf("_%s", predicate)) &&
           extension::is_ours(function, psprintf("snowdrift_%s", name));
}

PredicateCall::PredicateCall(Oid function, List* arguments, const char* name)
    : function_{function} {
    Oid* types;
    int count;
    (void)get_func_signature(function, &types, &count);
    Assert(count >= 2 && count == list_length(arguments));
    const int id_position = types[0] == TIMESTAMPTZOID ? 1 : 0;
    id_type_ = types[id_position];
    for (int i = id_position + 1; i < count; ++i) types[i - 1] = types[i];
    id_ = static_cast<Expr*>(list_nth(arguments, id_position));
    times_ = list_delete_nth_cell(list_copy(arguments), id_position);
    first_ = last_ = InvalidOid;
    if (!may_call(function)) return;
    if (name == nullptr) name = get_func_name(function);
    const Oid schema = find_support_schema(function);
    first_ = function_named(psprintf("first_%s", name), schema, types, count - 1);
    last_ = function_named(psprintf("last_%s", name), schema, types, count - 1);
}

bool PredicateCall::is_worthwhile(PlannerInfo* root) const {
    auto* const id = reinterpret_cast<Node*>(id_);
    auto* const times = reinterpret_cast<Node*>(times_);
    if (contain_volatile_functions(id) || contain_volatile_functions(times)) return false;
    if (contain_subplans(id) || contain_subplans(times)) return false;
    // Without a planner there is one row. In a trigger, its columns have no relation numbers.
    if (root == nullptr) return !contain_vars_of_level(id, 0) || !contain_vars_of_level(times, 0);
    // Before PostgreSQL 18, the planner merges comparisons into an AND, and then does not recognize
    // the grouping expression, which is null in other grouping sets.
    if (groups_by(root->parse, function_)) return false;
    return !bms_overlap(pull_varnos(root, id), pull_varnos(root, times));
}

Oid PredicateCall::comparison(int16 strategy) const {
    const Oid family = lookup_type_cache(id_type_, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
    return get_opfamily_member(family, id_type_, id_type_, strategy);
}

Expr* PredicateCall::compare(int16 strategy, Expr* bound) const {
    return make_opclause(comparison(strategy), BOOLOID, false, copy_of(id_), bound, InvalidOid,
                         InvalidOid);
}

Expr* PredicateCall::make_bound(PlannerInfo* root, Oid function) const {
    Assert(may_be_replaced());
    FuncExpr* const call = makeFuncExpr(function, id_type_, copy_of(times_), InvalidOid, InvalidOid,
                                        COERCE_EXPLICIT_CALL);
    return reinterpret_cast<Expr*>(eval_const_expressions(root, reinterpret_cast<Node*>(call)));
}

List* find_index_conditions(const SupportRequestIndexCondition* request, const char* name) {
    List* const arguments = IsA(request->node, OpExpr)
                                ? reinterpret_cast<OpExpr*>(request->node)->args
                                : reinterpret_cast<FuncExpr*>(request->node)->args;
    const PredicateCall call{request->funcid, arguments, name};
    if (!call.may_be_replaced()) return nullptr;
    ListCell* cell;
    foreach (cell, call.times()) {
        auto* const time = static_cast<Node*>(lfirst(cell));
        if (contain_subplans(time) ||
            !is_pseudo_constant_for_index(request->root, time, request->index))
            return nullptr;
    }
    // The index is on the ID, then. It may be of another operator family.
    for (const int strategy : {BTGreaterEqualStrategyNumber, BTLessEqualStrategyNumber})
        if (!op_in_opfamily(call.comparison(static_cast<int16>(strategy)), request->opfamily))
            return nullptr;
    return list_make2(call.compare(BTGreaterEqualStrategyNumber, call.least(request->root)),
                      call.compare(BTLessEqualStrategyNumber, call.greatest(request->root)));
}

}  // namespace snowdrift
