// The restriction estimator of <, <=, > and >= for ulid and sno.
//
// PostgreSQL recognizes the two bounds of a range only if the operators have its own estimators,
// which do not interpolate between two IDs. It multiplies all other estimates. Therefore, a bound's
// estimate here is its share of the rows that satisfy the conditions before it, where lower bounds
// are before upper bounds. The product is the estimate of the range.
#include <optional>

#include "pg/planner/range_selectivity.hpp"
#include "pg/support/postgres.hpp"

extern "C" {
#include "access/stratnum.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "utils/selfuncs.h"
}

using namespace snowdrift;

namespace {

/// A condition that limits an ID by a value that is the same for all rows.
struct Bound {
    Node* id;
    Node* value;
    bool is_upper;
};

std::optional<Bound> find_bound(Oid comparison, const List* arguments) {
    const int strategy = comparison_strategy(comparison);
    if (strategy == InvalidStrategy || strategy == BTEqualStrategyNumber) return {};
    const bool is_less = strategy < BTEqualStrategyNumber;
    auto* const left = static_cast<Node*>(linitial(arguments));
    auto* const right = static_cast<Node*>(lsecond(arguments));
    if (is_pseudo_constant_clause(right)) return Bound{left, right, is_less};
    if (is_pseudo_constant_clause(left)) return Bound{right, left, !is_less};
    return {};
}

/// The expression of a condition, which can be wrapped.
Node* expression_of(void* condition) {
    if (!IsA(condition, RestrictInfo)) return static_cast<Node*>(condition);
    return reinterpret_cast<Node*>(static_cast<RestrictInfo*>(condition)->clause);
}

/// A condition with an operator; null if `condition` is another one.
const OpExpr* find_operation(void* condition) {
    Node* const expression = expression_of(condition);
    return IsA(expression, OpExpr) ? reinterpret_cast<OpExpr*>(expression) : nullptr;
}

bool contains(const List* conditions, const List* arguments) {
    ListCell* cell;
    foreach (cell, conditions) {
        const OpExpr* const operation = find_operation(lfirst(cell));
        if (operation != nullptr && operation->args == arguments) return true;
    }
    return false;
}

/// A search for the conditions that must all be true together with the one that has `arguments`.
struct Search {
    const List* arguments;
    const List* conditions;
};

/// Searches the ANDs within an expression. Returns whether they contain the condition. Operands are
/// not searched: the planner does not estimate them, and an OR can have thousands of comparisons.
bool search_expression(Node* expression, void* context) {
    if (expression == nullptr) return false;
    expression = expression_of(expression);
    if (IsA(expression, OpExpr)) return false;
    auto* const search = static_cast<Search*>(context);
    if (is_andclause(expression)) {
        search->conditions = reinterpret_cast<BoolExpr*>(expression)->args;
        if (contains(search->conditions, search->arguments)) return true;
    }
    return walk_expression(expression, search_expression, context);
}

/// Searches a list of conditions, and the ANDs within them.
bool search_list(List* conditions, Search* search) {
    return search_expression(reinterpret_cast<Node*>(make_andclause(conditions)), search);
}

/// Searches the conditions of a relation, of its joins and of its partial indexes.
bool search_relation(const RelOptInfo* relation, Search* search) {
    if (search_list(relation->baserestrictinfo, search)) return true;
    if (search_list(relation->joininfo, search)) return true;
    ListCell* cell;
    foreach (cell, relation->indexlist)
        if (search_list(static_cast<IndexOptInfo*>(lfirst(cell))->indpred, search)) return true;
    return false;
}

/// The relation of an ID; null if it has none, or several.
const RelOptInfo* relation_of(PlannerInfo* root, Node* id, int relation) {
    VariableStatData variable;
    examine_variable(root, id, relation, &variable);
    const RelOptInfo* const result = variable.rel;
    ReleaseVariableStats(variable);
    return result;
}

/// Whether a bound is the other one of a predicate with one bound: that of `id >= time` is the last
/// ID, unless no ID satisfies the predicate.
bool is_trivial(const Node* value) {
    return is_predicate_bound(value, "last", "since") ||
           is_predicate_bound(value, "last", "after") ||
           is_predicate_bound(value, "first", "before") ||
           is_predicate_bound(value, "first", "until");
}

/// The estimate of a condition that no list contains. find_index_conditions() creates such
/// conditions, always both bounds of a predicate.
double estimate_alone(const Bound& bound, double share) {
    if (is_predicate_bound(bound.value, "first", "within")) return DEFAULT_RANGE_INEQ_SEL;
    if (is_predicate_bound(bound.value, "last", "within")) return 1;
    return share;
}

double estimate(PlannerInfo* root, Oid comparison, List* arguments, int relation) {
    const double share = estimate_inequality(root, comparison, arguments, relation);
    const std::optional<Bound> bound = find_bound(comparison, arguments);
    if (!bound) return share;
    if (is_trivial(bound->value)) return 1;
    const RelOptInfo* const source = relation_of(root, bound->id, relation);
    if (source == nullptr) return share;
    Search search{arguments, nullptr};
    if (!search_relation(source, &search)) return estimate_alone(*bound, share);
    constexpr int max_conditions = 100;  // the time of planning grows with the square
    if (list_length(search.conditions) > max_conditions) return share;

    RangeEstimate range;  // of the conditions before this one
    bool is_before = true;
    ListCell* cell;
    foreach (cell, search.conditions) {
        const OpExpr* const other = find_operation(lfirst(cell));
        if (other == nullptr) continue;
        if (other->args == arguments) {
            is_before = false;
            continue;
        }
        const std::optional<Bound> found = find_bound(other->opno, other->args);
        if (!found || !equal(found->id, bound->id) || is_trivial(found->value)) continue;
        if (found->is_upper == bound->is_upper ? is_before : bound->is_upper)
            range.add(found->is_upper,
                      estimate_inequality(root, other->opno, other->args, relation));
    }
    const double share_before = range.share(root, bound->id, relation);
    range.add(bound->is_upper, share);
    const double share_after = range.share(root, bound->id, relation);
    return share_after < share_before ? share_after / share_before : 1;
}

}  // namespace

/// The restriction estimator of the inequality operators of ulid and sno
SNOWDRIFT_FUNCTION(id_inequality_sel) {
    auto* const root = reinterpret_cast<PlannerInfo*>(PG_GETARG_POINTER(0));
    auto* const arguments = reinterpret_cast<List*>(PG_GETARG_POINTER(2));
    PG_RETURN_FLOAT8(estimate(root, PG_GETARG_OID(1), arguments, PG_GETARG_INT32(3)));
}
