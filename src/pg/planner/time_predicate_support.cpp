// The planner support function of time predicates. It replaces them by comparisons of IDs, which
// can use indexes, partition pruning and statistics.
#include <algorithm>

#include "pg/support/extension.hpp"
#include "pg/support/postgres.hpp"

extern "C" {
#include "access/stratnum.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
}

using namespace snowdrift;

namespace {

/// A copy of a tree. The planner modifies trees in place, so two expressions must not share one.
template <typename Tree>
Tree* copy_of(const Tree* tree) {
    return static_cast<Tree*>(copyObjectImpl(tree));
}

bool may_call(Oid function) {
    return object_aclcheck(ProcedureRelationId, function, GetUserId(), ACL_EXECUTE) == ACLCHECK_OK;
}

/// A call of a time predicate, p(id, times) or p(time, id). It is equivalent to id >=
/// first_p(times) AND id <= last_p(times).
///
/// Both conditions are needed unless the times are constant: for times without IDs, first_p returns
/// the greatest ID and last_p returns the least.
struct Predicate {
    Expr* id;
    List* times;
    int id_position;  ///< among the arguments
    Oid first;        ///< the function first_p; InvalidOid if the user cannot call it
    Oid last;         ///< the function last_p, likewise
};

/// The function first_p or last_p in the schema of the predicate p. It must be implemented by this
/// library, and return an ID of the predicate's type, because other roles may create functions in
/// that schema.
Oid find_bound(const char* prefix, Oid predicate, Oid id_type, const Oid* types, int count) {
    const char* const name = psprintf("%s_%s", prefix, get_func_name(predicate));
    const Oid function = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum(name),
                                         PointerGetDatum(buildoidvector(types, count)),
                                         ObjectIdGetDatum(get_func_namespace(predicate)));
    const bool is_found = OidIsValid(function) &&
                          extension::is_ours(function, psprintf("snowdrift_%s", name)) &&
                          get_func_rettype(function) == id_type && may_call(function);
    return is_found ? function : InvalidOid;
}

Predicate predicate_of(Oid function, List* arguments) {
    Oid* types;
    int count;
    (void)get_func_signature(function, &types, &count);
    const int position = types[0] == TIMESTAMPTZOID ? 1 : 0;
    const Oid id_type = types[position];
    for (int i = position + 1; i < count; ++i) types[i - 1] = types[i];
    return {static_cast<Expr*>(list_nth(arguments, position)),
            list_delete_nth_cell(list_copy(arguments), position), position,
            find_bound("first", function, id_type, types, count - 1),
            find_bound("last", function, id_type, types, count - 1)};
}

/// A call of first_p or last_p, folded to a constant if its arguments are constants.
Expr* make_bound(PlannerInfo* root, Oid function, List* arguments) {
    FuncExpr* const call = makeFuncExpr(function, get_func_rettype(function), copy_of(arguments),
                                        InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
    return reinterpret_cast<Expr*>(eval_const_expressions(root, reinterpret_cast<Node*>(call)));
}

/// The comparison of two IDs by the operator of a btree strategy.
Expr* compare(const Expr* id, int16 strategy, Expr* bound) {
    const Oid type = exprType(reinterpret_cast<const Node*>(bound));
    const Oid family = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
    const Oid comparison = get_opfamily_member(family, type, type, strategy);
    return make_opclause(comparison, BOOLOID, false, copy_of(id), bound, InvalidOid, InvalidOid);
}

/// Whether `bound` is a constant whose bytes all equal `byte`: the least or the greatest value of a
/// type that sorts by its bytes. For 0xff, also whether it is the greatest bigint.
bool is_all(const Expr* bound, uint8 byte) {
    if (!IsA(bound, Const)) return false;
    const auto* const value = reinterpret_cast<const Const*>(bound);
    if (value->constisnull) return false;
    if (value->constbyval) return byte != 0 && DatumGetInt64(value->constvalue) == PG_INT64_MAX;
    const auto* const bytes = reinterpret_cast<const uint8*>(DatumGetPointer(value->constvalue));
    return std::all_of(bytes, bytes + value->constlen, [=](uint8 b) { return b == byte; });
}

/// Whether an index could use conditions on the ID, and both expressions can be duplicated.
/// Subqueries cannot be duplicated: they would run twice, and could return different results.
bool is_worthwhile(PlannerInfo* root, const Predicate& predicate) {
    auto* const id = reinterpret_cast<Node*>(predicate.id);
    auto* const times = reinterpret_cast<Node*>(predicate.times);
    if (contain_volatile_functions(id) || contain_volatile_functions(times)) return false;
    if (contain_subplans(id) || contain_subplans(times)) return false;
    // Without a planner there is one row. In a trigger, its columns have no relation numbers.
    if (!root) return !contain_vars_of_level(id, 0) || !contain_vars_of_level(times, 0);
    return !bms_overlap(pull_varnos(root, id), pull_varnos(root, times));
}

/// The comparisons of IDs that replace a predicate; null to keep the predicate. Requires that the
/// user has EXECUTE on the predicate and on the functions that replace it.
Expr* simplify(PlannerInfo* root, const FuncExpr* call) {
    if (!may_call(call->funcid)) return nullptr;
    const Predicate predicate = predicate_of(call->funcid, call->args);
    if (!OidIsValid(predicate.first) || !OidIsValid(predicate.last)) return nullptr;
    if (!is_worthwhile(root, predicate)) return nullptr;

    Expr* const least = make_bound(root, predicate.first, predicate.times);
    Expr* const greatest = make_bound(root, predicate.last, predicate.times);
    Expr* const from = compare(predicate.id, BTGreaterEqualStrategyNumber, least);
    Expr* const to = compare(predicate.id, BTLessEqualStrategyNumber, greatest);
    // Keep at least one condition, so that a null ID yields null.
    if (is_all(greatest, UINT8_MAX)) return from;
    if (is_all(least, 0)) return to;
    return make_andclause(list_make2(from, to));
}

/// The index conditions for a predicate that simplify() has kept, such as one whose time is a
/// subquery: at this stage, the subquery is a parameter with one value. Null if there are none.
List* find_index_conditions(SupportRequestIndexCondition* request) {
    List* const arguments = IsA(request->node, OpExpr)
                                ? reinterpret_cast<OpExpr*>(request->node)->args
                                : reinterpret_cast<FuncExpr*>(request->node)->args;
    if (!may_call(request->funcid)) return nullptr;
    const Predicate predicate = predicate_of(request->funcid, arguments);
    if (!OidIsValid(predicate.first) || !OidIsValid(predicate.last)) return nullptr;
    if (request->indexarg != predicate.id_position) return nullptr;
    ListCell* cell;
    foreach (cell, predicate.times) {
        auto* const time = static_cast<Node*>(lfirst(cell));
        if (!is_pseudo_constant_for_index(request->root, time, request->index)) return nullptr;
    }

    Expr* const least = make_bound(request->root, predicate.first, predicate.times);
    Expr* const greatest = make_bound(request->root, predicate.last, predicate.times);
    Expr* const from = compare(predicate.id, BTGreaterEqualStrategyNumber, least);
    Expr* const to = compare(predicate.id, BTLessEqualStrategyNumber, greatest);
    // The index may be of another operator family.
    for (const Expr* const condition : {from, to})
        if (!op_in_opfamily(reinterpret_cast<const OpExpr*>(condition)->opno, request->opfamily))
            return nullptr;
    request->lossy = false;
    return list_make2(from, to);
}

}  // namespace

/// The support function of all time predicates
SNOWDRIFT_FUNCTION(time_predicate_support) {
    auto* const request = reinterpret_cast<Node*>(PG_GETARG_POINTER(0));
    if (IsA(request, SupportRequestSimplify)) {
        const auto* const call = reinterpret_cast<const SupportRequestSimplify*>(request);
        PG_RETURN_POINTER(simplify(call->root, call->fcall));
    }
    if (IsA(request, SupportRequestIndexCondition))
        PG_RETURN_POINTER(
            find_index_conditions(reinterpret_cast<SupportRequestIndexCondition*>(request)));
    PG_RETURN_POINTER(nullptr);
}
