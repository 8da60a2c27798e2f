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

/// A call of next_snowflake().
struct GeneratorCall {
    bool is_default;   ///< without an argument: of the default generator
    const char* name;  ///< the generator's; null if is_default
};

/// The call in the default of a column, or of its domain. Nothing if the default calls no generator
/// of Snowflake IDs, or if the name is not a constant.
std::optional<GeneratorCall> generator_call_of(Relation table, AttrNumber column);

}  // namespace snowdrift
