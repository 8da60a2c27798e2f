// What a column's default says about the IDs in the column: the generator that it calls, and the
// layout of Snowflake IDs.
#pragma once

#include <optional>

#include "pg/support/postgres.hpp"
#include "snowdrift/snowflake.hpp"

extern "C" {
#include "nodes/primnodes.h"
#include "utils/relcache.h"
}

namespace snowdrift {

/// C symbols of next_snowflake() and next_snowflake(text).
inline constexpr const char* next_snowflake_symbol = "snowdrift_next_snowflake";
inline constexpr const char* next_snowflake_of_symbol = "snowdrift_next_snowflake_of";

/// The function that a column's default calls.
struct DefaultCall {
    Oid function;
    const Const* argument;  ///< the only argument, if it is a constant and not null; otherwise null

    /// Whether the function is next_snowflake() or next_snowflake(text).
    bool is_next_snowflake() const;
};

/// An argument of a call, if it is a constant and not null; otherwise null.
const Const* constant_of(const Node* argument);

/// The expression of a column's default or of a generated column; null if there is none.
Node* read_expression(Relation table, AttrNumber column);

/// The function call of a default, without the casts of its result to the column's type; nothing if
/// the default is another expression.
std::optional<DefaultCall> call_of(const Node* expression);

/// The name of the generator that the default of a column, or of its domain, calls; null for the
/// default generator.
/// Nothing if the default calls no generator of Snowflake IDs, or if the name is not a constant.
std::optional<const char*> generator_of_column(Relation table, AttrNumber column);

}  // namespace snowdrift
