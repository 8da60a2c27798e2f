// What a column's default says about the IDs in the column: the generator that it calls.
#pragma once

#include <optional>

#include "pg/support/postgres.hpp"

extern "C" {
#include "nodes/primnodes.h"
#include "utils/relcache.h"
}

namespace snowdrift {

/// An argument of a call, if it is a constant and not null; otherwise null.
const Const* constant_of(const Node* argument);

/// The name of the generator that the default of a column, or of its domain, calls; null for the
/// default generator.
/// Nothing if the default calls no generator of Snowflake IDs, or if the name is not a constant.
std::optional<const char*> generator_of_column(Relation table, AttrNumber column);

}  // namespace snowdrift
