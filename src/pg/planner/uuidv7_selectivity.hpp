// The planner's estimate of a range of UUIDs of version 7, from the statistics of a uuid column.
#pragma once

#include "pg/support/postgres.hpp"
#include "snowdrift/uuidv7.hpp"

extern "C" {
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
}

namespace snowdrift {

/// The share of rows, 0 .. 1, whose UUID has version 7 and is in `first` .. `last`. The UUID is the
/// first argument of the request. Returns DEFAULT_RANGE_INEQ_SEL if there are no statistics.
double estimate_uuidv7_range(const SupportRequestSelectivity& request, const Uuidv7& first,
                             const Uuidv7& last);

}  // namespace snowdrift
