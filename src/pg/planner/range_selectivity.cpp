#include "pg/planner/range_selectivity.hpp"

#include <algorithm>

extern "C" {
#include "access/stratnum.h"
#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/typcache.h"
}

namespace snowdrift {
namespace {

/// PostgreSQL's estimator for a btree strategy; null if there is none.
PGFunction find_estimator(int strategy) {
    switch (strategy) {
        case BTLessStrategyNumber:
            return scalarltsel;
        case BTLessEqualStrategyNumber:
            return scalarlesel;
        case BTGreaterEqualStrategyNumber:
            return scalargesel;
        case BTGreaterStrategyNumber:
            return scalargtsel;
        default:
            return nullptr;
    }
}

/// An ID as the planner's estimators can interpolate it. They read a value of type macaddr as a
/// number of 48 bits, the first byte first. The first 48 bits of a binary ID are its time, or begin
/// with it. IDs of other types, and values that are not IDs, are returned unchanged.
Node* as_number(Node* id) {
    constexpr int macaddr_size = 6;
    int16 size;
    bool is_by_value;
    get_typlenbyval(exprType(id), &size, &is_by_value);
    if (is_by_value || size < macaddr_size) return id;
    return applyRelabelType(id, MACADDROID, -1, InvalidOid, COERCE_IMPLICIT_CAST, -1, false);
}

}  // namespace

int comparison_strategy(Oid comparison) {
    Oid left;
    Oid right;
    op_input_types(comparison, &left, &right);
    if (left != right) return InvalidStrategy;
    const Oid family = lookup_type_cache(left, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
    return OidIsValid(family) ? get_op_opfamily_strategy(comparison, family) : InvalidStrategy;
}

double estimate_inequality(PlannerInfo* root, Oid comparison, List* arguments, int relation) {
    const PGFunction estimator = find_estimator(comparison_strategy(comparison));
    if (estimator == nullptr) return DEFAULT_INEQ_SEL;
    List* const numbers = list_make2(as_number(static_cast<Node*>(linitial(arguments))),
                                     as_number(static_cast<Node*>(lsecond(arguments))));
    return DatumGetFloat8(DirectFunctionCall4(estimator, PointerGetDatum(root),
                                              ObjectIdGetDatum(comparison),
                                              PointerGetDatum(numbers), Int32GetDatum(relation)));
}

void RangeEstimate::add(bool is_upper, double share) {
    std::optional<double>& bound = is_upper ? upper : lower;
    bound = bound ? std::min(*bound, share) : share;
}

double RangeEstimate::share(PlannerInfo* root, Node* id, int relation) const {
    if (!lower || !upper) return lower ? *lower : upper.value_or(1);
    if (*lower == DEFAULT_INEQ_SEL || *upper == DEFAULT_INEQ_SEL) return DEFAULT_RANGE_INEQ_SEL;
    const double nulls = nulltestsel(root, IS_NULL, id, relation, JOIN_INNER, nullptr);
    constexpr double almost_no_rows = 1e-10;  // as in PostgreSQL
    return std::clamp(*lower + *upper + nulls - 1, almost_no_rows, 1.0);
}

double estimate_range(PlannerInfo* root, const PredicateCall& predicate, int relation) {
    const auto estimate = [&](int16 strategy, Expr* bound) {
        Expr* const condition = predicate.compare(strategy, bound);
        return estimate_inequality(root, predicate.comparison(strategy),
                                   reinterpret_cast<OpExpr*>(condition)->args, relation);
    };
    RangeEstimate range;
    range.add(false, estimate(BTGreaterEqualStrategyNumber, predicate.least(root)));
    range.add(true, estimate(BTLessEqualStrategyNumber, predicate.greatest(root)));
    return range.share(root, reinterpret_cast<Node*>(predicate.id()), relation);
}

}  // namespace snowdrift
