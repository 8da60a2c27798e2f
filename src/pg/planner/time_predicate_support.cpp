// The planner support function of time predicates. It replaces them by comparisons of IDs, which
// can use indexes, partition pruning and statistics. uuidv7_within() has its own.
#include <algorithm>

#include "pg/planner/predicate_call.hpp"
#include "pg/planner/range_selectivity.hpp"
#include "pg/support/postgres.hpp"

extern "C" {
#include "access/stratnum.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
}

using namespace snowdrift;

namespace {

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

/// The comparisons of IDs that replace a predicate; null to keep the predicate.
Expr* simplify(PlannerInfo* root, const FuncExpr* call) {
    const PredicateCall predicate{call->funcid, call->args};
    if (!predicate.may_be_replaced() || !predicate.is_worthwhile(root)) return nullptr;

    Expr* const least = predicate.least(root);
    Expr* const greatest = predicate.greatest(root);
    Expr* const from = predicate.compare(BTGreaterEqualStrategyNumber, least);
    Expr* const to = predicate.compare(BTLessEqualStrategyNumber, greatest);
    // Keep at least one condition, so that a null ID yields null.
    if (is_all(greatest, UINT8_MAX)) return from;
    if (is_all(least, 0)) return to;
    return make_andclause(list_make2(from, to));
}

/// Estimates a predicate with a range of times. Returns whether it did: PostgreSQL's default for
/// other functions is a good one for a single time that is not known.
bool estimate(SupportRequestSelectivity* request) {
    const PredicateCall predicate{request->funcid, request->args};
    auto* const times = static_cast<Node*>(linitial(predicate.times()));
    if (!predicate.may_be_replaced() || exprType(times) != TSTZRANGEOID) return false;
    request->selectivity = estimate_range(request->root, predicate, request->varRelid);
    return true;
}

}  // namespace

/// The support function of all time predicates except uuidv7_within()
SNOWDRIFT_FUNCTION(time_predicate_support) {
    auto* const request = reinterpret_cast<Node*>(PG_GETARG_POINTER(0));
    if (IsA(request, SupportRequestSimplify)) {
        const auto* const call = reinterpret_cast<const SupportRequestSimplify*>(request);
        PG_RETURN_POINTER(simplify(call->root, call->fcall));
    }
    if (IsA(request, SupportRequestIndexCondition)) {
        // simplify() has kept the predicate, for example because its time is a subquery.
        auto* const index = reinterpret_cast<SupportRequestIndexCondition*>(request);
        index->lossy = false;
        PG_RETURN_POINTER(find_index_conditions(index));
    }
    if (IsA(request, SupportRequestSelectivity)) {
        auto* const question = reinterpret_cast<SupportRequestSelectivity*>(request);
        if (estimate(question)) PG_RETURN_POINTER(request);
    }
    PG_RETURN_POINTER(nullptr);
}
