// Time predicates in queries: the planner's support functions replace ulid_since(id, t) and similar
// calls by comparisons with the first and the last ID of such times, which can use indexes,
// partition pruning and statistics, and estimate how many rows they select. This file has a call of
// a predicate, and the comparisons that it implies. time_predicate_support.cpp replaces it;
// uuidv7_within_support.cpp keeps uuidv7_within() and adds comparisons; range_selectivity.hpp,
// id_inequality_sel.cpp and uuidv7_selectivity.hpp have the estimates.
//
// The rule: in every plan, a predicate selects exactly the rows for which its function returns
// true. test/t/031_planner.pl compares random queries. Queries that use neither a predicate nor the
// types ulid and sno are planned as without the extension.
//
// What can go wrong: the comparisons evaluate the ID and the times twice, so a call with a volatile
// expression or a subquery is not replaced. The comparisons call functions that the user may lack
// the right to call, or that another role could have created: these are looked up only in the
// schema of the support functions, and only if the user has EXECUTE. PostgreSQL does not recognize
// the two bounds of an ID as a range, and multiplies their estimates: see id_inequality_sel.cpp.
//
// The proof in docs/guarantees.md does not rely on this folder. On that page, "Who can do what"
// states which functions it may find.
#pragma once

#include "pg/support/postgres.hpp"

extern "C" {
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
}

namespace snowdrift {

/// A copy of a tree. The planner modifies trees in place, so two expressions must not share one.
template <typename Tree>
Tree* copy_of(const Tree* tree) {
    return static_cast<Tree*>(copyObjectImpl(tree));
}

/// Whether the user has EXECUTE on a function.
bool may_call(Oid function);

/// The schema of a function's planner support function; InvalidOid if it has none. For time
/// predicates, it is the schema `snowdrift`, even if that was renamed: only superusers can give a
/// function a support function.
Oid find_support_schema(Oid function);

/// The function `name` in the schema `snowdrift`, where only superusers create functions, if the
/// user has EXECUTE; otherwise InvalidOid.
Oid function_named(const char* name, Oid schema, const Oid* types, int count);

/// Whether an expression is a call of the bound `kind` ("first" or "last") of the time predicate
/// `predicate` ("before", "until", "after", "since" or "within") on IDs of any type.
bool is_predicate_bound(const Node* expression, const char* kind, const char* predicate);

/// A call of a time predicate, p(id, times) or p(time, id). It implies id >= first_p(times) AND
/// id <= last_p(times).
///
/// Both conditions are needed unless the times are constant: for times without IDs, first_p returns
/// the largest ID and last_p returns the smallest.
class PredicateCall {
 public:
    /// The call of `function` with these arguments. `name`: p in first_p and last_p; by default,
    /// the function's name.
    PredicateCall(Oid function, List* arguments, const char* name = nullptr);

    Expr* id() const { return id_; }
    List* times() const { return times_; }

    /// Whether the user has EXECUTE on the predicate, first_p and last_p.
    bool may_be_replaced() const { return OidIsValid(first_) && OidIsValid(last_); }

    /// Whether conditions on the ID are useful, and the expressions of the ID and the times can be
    /// duplicated. Subqueries cannot: they would run twice, and could return different results. A
    /// predicate that grouping sets contain is not replaced.
    bool is_worthwhile(PlannerInfo* root) const;

    /// first_p(times), or its result if the times are constant. Precondition: may_be_replaced().
    Expr* least(PlannerInfo* root) const { return make_bound(root, first_); }

    /// last_p(times), likewise.
    Expr* greatest(PlannerInfo* root) const { return make_bound(root, last_); }

    /// The operator of a btree strategy that compares two IDs.
    Oid comparison(int16 strategy) const;

    /// id >= bound for the strategy BTGreaterEqualStrategyNumber, and so on.
    Expr* compare(int16 strategy, Expr* bound) const;

 private:
    Expr* make_bound(PlannerInfo* root, Oid function) const;

    Oid function_;
    Expr* id_;
    List* times_;
    Oid id_type_;
    Oid first_;  // the function first_p; InvalidOid if the user cannot call it
    Oid last_;   // the function last_p, likewise
};

/// Answers a request for index conditions of a time predicate: the comparisons of IDs that it
/// implies, if the index can use them; otherwise null. The times may be an uncorrelated subquery:
/// at this stage, it is a parameter with one value. A correlated one would run for each condition,
/// and could return different results. `name`: as in PredicateCall.
List* find_index_conditions(const SupportRequestIndexCondition* request,
                            const char* name = nullptr);

}  // namespace snowdrift
