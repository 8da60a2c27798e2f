// What the planner makes of time predicates: conditions on IDs, which indexes, partition pruning
// and statistics understand; and statistics that are fine enough for them.
#include <algorithm>
#include <iterator>

#include "pg/postgres.hpp"

extern "C" {
#include "catalog/pg_proc.h"
#include "catalog/pg_statistic.h"
#include "commands/vacuum.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
}

namespace {

/// A copy of a tree. The planner changes trees in place, so none may be part of two expressions.
template <typename Tree>
Tree* copy_of(const Tree* tree) {
    return static_cast<Tree*>(copyObjectImpl(tree));
}

bool may_call(Oid function) {
    return object_aclcheck(ProcedureRelationId, function, GetUserId(), ACL_EXECUTE) == ACLCHECK_OK;
}

/// The function called first_p or last_p, with these arguments, that stands beside the predicate p.
/// InvalidOid if there is none that the user may call.
Oid find_bound(const char* prefix, Oid predicate, List* arguments) {
    Oid types[FUNC_MAX_ARGS];
    int count = 0;
    ListCell* cell;
    foreach (cell, arguments) types[count++] = exprType(static_cast<Node*>(lfirst(cell)));
    const char* const name = psprintf("%s_%s", prefix, get_func_name(predicate));
    const Oid function = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum(name),
                                         PointerGetDatum(buildoidvector(types, count)),
                                         ObjectIdGetDatum(get_func_namespace(predicate)));
    return OidIsValid(function) && may_call(function) ? function : InvalidOid;
}

/// A call of such a function, folded if its arguments are constants.
Expr* make_bound(PlannerInfo* root, Oid function, List* arguments) {
    FuncExpr* const call = makeFuncExpr(function, get_func_rettype(function), copy_of(arguments),
                                        InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
    return reinterpret_cast<Expr*>(eval_const_expressions(root, reinterpret_cast<Node*>(call)));
}

/// The comparison of two IDs by their type's btree operator of that strategy.
Expr* compare(const Expr* id, int16 strategy, Expr* bound) {
    const Oid type = exprType(reinterpret_cast<const Node*>(id));
    const Oid family = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
    const Oid comparison = get_opfamily_member(family, type, type, strategy);
    return make_opclause(comparison, BOOLOID, false, copy_of(id), bound, InvalidOid, InvalidOid);
}

/// Whether `bound` is a constant that consists of the byte `byte`, which makes it the least or the
/// greatest value of a type that sorts by its bytes. The greatest bigint is taken for such a one.
bool is_all(const Expr* bound, uint8 byte) {
    if (!IsA(bound, Const)) return false;
    const auto* const value = reinterpret_cast<const Const*>(bound);
    if (value->constisnull) return false;
    if (value->constbyval) return byte != 0 && DatumGetInt64(value->constvalue) == PG_INT64_MAX;
    const auto* const bytes = reinterpret_cast<const uint8*>(DatumGetPointer(value->constvalue));
    return std::all_of(bytes, bytes + value->constlen, [=](uint8 b) { return b == byte; });
}

/// Whether conditions on `id` may be of use to an index, and both expressions may be written twice.
bool is_worthwhile(PlannerInfo* root, Node* id, Node* times) {
    if (contain_volatile_functions(id) || contain_volatile_functions(times)) return false;
    if (contain_subplans(id)) return false;
    // A subquery is run once for each time it is written, unless it depends on the row.
    if (contain_subplans(times) && contain_vars_of_level(times, 0)) return false;
    // Outside of a query there is one row, whose columns, in a trigger, have no numbers of
    // relations.
    if (!root) return !contain_vars_of_level(id, 0) || !contain_vars_of_level(times, 0);
    return !bms_overlap(pull_varnos(root, id), pull_varnos(root, times));
}

/// The call p(id, times), or p(times, id), of a time predicate, as
/// id >= first_p(times) AND id <= last_p(times). Null to leave it as it is.
///
/// Both conditions are needed as long as the times aren't known, since a range that has no ID must
/// have ends: first_p then gives the greatest ID and last_p the least.
///
/// The user must be allowed to call what is called instead, and what no longer is.
Expr* simplify(PlannerInfo* root, const FuncExpr* call) {
    if (!may_call(call->funcid)) return nullptr;
    for (int position = 0; position < std::min(2, list_length(call->args)); ++position) {
        auto* const id = static_cast<Expr*>(list_nth(call->args, position));
        List* const times = list_delete_nth_cell(list_copy(call->args), position);
        const Oid first = find_bound("first", call->funcid, times);
        const Oid last = find_bound("last", call->funcid, times);
        if (!OidIsValid(first) || !OidIsValid(last)) continue;
        if (!is_worthwhile(root, reinterpret_cast<Node*>(id), reinterpret_cast<Node*>(times)))
            return nullptr;

        Expr* const least = make_bound(root, first, times);
        Expr* const greatest = make_bound(root, last, times);
        Expr* const from = compare(id, BTGreaterEqualStrategyNumber, least);
        Expr* const to = compare(id, BTLessEqualStrategyNumber, greatest);
        // One of them stays, since a null ID is neither within nor without.
        if (is_all(greatest, UINT8_MAX)) return from;
        if (is_all(least, 0)) return to;
        return make_andclause(list_make2(from, to));
    }
    return nullptr;
}

/// What std_typanalyze() has for a type with a btree operator class.
AnalyzeAttrComputeStatsFunc compute_standard_stats;

bool has_most_common_values(const VacAttrStats* stats) {
    return std::find(std::begin(stats->stakind), std::end(stats->stakind), STATISTIC_KIND_MCV) !=
           std::end(stats->stakind);
}

/// The standard statistics of a sample; where values are hardly ever repeated, a histogram of ten
/// times as many bounds out of the same sample. The planner can interpolate between numbers but not
/// between IDs, so the distance of two bounds is the shortest range that it can estimate.
void compute_stats(VacAttrStats* stats, AnalyzeAttrFetchFunc fetch, int rows, double all_rows) {
    compute_standard_stats(stats, fetch, rows, all_rows);
    const bool has_repeated_values = stats->stadistinct >= 0 || has_most_common_values(stats);
    if (!stats->stats_valid || has_repeated_values) return;
#if PG_VERSION_NUM >= 170000
    auto& target = stats->attstattarget;
#else
    auto& target = stats->attr->attstattarget;
#endif
    constexpr int max_target = 10000;
    const auto usual = target;
    target = std::min(10 * usual, max_target);
    for (int i = 0; i < STATISTIC_NUM_SLOTS; ++i)
        stats->stakind[i] = 0, stats->numnumbers[i] = 0, stats->numvalues[i] = 0;
    compute_standard_stats(stats, fetch, rows, all_rows);
    target = usual;
}

}  // namespace

/// The support function of all time predicates
SNOWDRIFT_FUNCTION(time_predicate_support) {
    auto* const request = reinterpret_cast<Node*>(PG_GETARG_POINTER(0));
    if (!IsA(request, SupportRequestSimplify)) PG_RETURN_POINTER(nullptr);
    const auto* const simplification = reinterpret_cast<SupportRequestSimplify*>(request);
    PG_RETURN_POINTER(simplify(simplification->root, simplification->fcall));
}

/// The typanalyze function of ID types: standard statistics, but with a finer histogram of a
/// primary key's values, and others that are as good as unique.
SNOWDRIFT_FUNCTION(id_typanalyze) {
    auto* const stats = reinterpret_cast<VacAttrStats*>(PG_GETARG_POINTER(0));
    if (!std_typanalyze(stats)) PG_RETURN_BOOL(false);
    compute_standard_stats = stats->compute_stats;
    stats->compute_stats = compute_stats;
    PG_RETURN_BOOL(true);
}
