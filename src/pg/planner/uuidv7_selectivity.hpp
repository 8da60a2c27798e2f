// The planner's estimate of a range of UUIDs of version 7 in a column that also holds other UUIDs.
#pragma once

#include <optional>

#include "pg/support/postgres.hpp"
#include "snowdrift/uuidv7.hpp"

extern "C" {
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
}

namespace snowdrift {

/// The share of rows, 0 .. 1, whose UUID has version 7 and is in `first` .. `last`. The UUID is the
/// first argument of the request. Nothing if the histogram has no UUIDs of other versions.
std::optional<double> estimate_among_versions(const SupportRequestSelectivity& request,
                                              const Uuidv7& first, const Uuidv7& last);

}  // namespace snowdrift
