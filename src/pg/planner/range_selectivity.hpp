// The planner's estimates of ranges of IDs, for all kinds of IDs: those of PostgreSQL for ranges of
// numbers, with IDs that it cannot read as numbers interpolated by their time.
#pragma once

#include <optional>

#include "pg/planner/predicate_call.hpp"
#include "pg/support/postgres.hpp"

namespace snowdrift {

/// The btree strategy of a comparison of two IDs, or other values, of one type. InvalidStrategy if
/// the operator is not in the type's default operator family.
int comparison_strategy(Oid comparison);

/// The estimated share of rows, 0 .. 1, that satisfy a condition with <, <=, > or >=.
/// DEFAULT_INEQ_SEL if it cannot be estimated. `relation`: as varRelid in PostgreSQL.
double estimate_inequality(PlannerInfo* root, Oid comparison, List* arguments, int relation);

/// The estimates of the lower and upper bounds of an ID.
struct RangeEstimate {
    std::optional<double> lower;
    std::optional<double> upper;

    /// Adds a bound. Of several bounds in one direction, the one with the fewest rows counts.
    void add(bool is_upper, double share);

    /// The estimated share of rows, 0 .. 1, that satisfy all bounds, as PostgreSQL computes it for
    /// numbers; except that it expects no rows between bounds in the wrong order.
    double share(PlannerInfo* root, Node* id, int relation) const;
};

/// The estimated share of rows, 0 .. 1, that satisfy a time predicate: those of the IDs that it
/// implies. Precondition: predicate.may_be_replaced().
double estimate_range(PlannerInfo* root, const PredicateCall& predicate, int relation);

}  // namespace snowdrift
