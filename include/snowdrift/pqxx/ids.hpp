// All ID types, for the traits of each version of libpqxx.
#pragma once

#include <pqxx/except>
#include <pqxx/strconv>
#include <string_view>

#include "snowdrift/parse.hpp"
#include "snowdrift/sno.hpp"
#include "snowdrift/snowflake_id.hpp"
#include "snowdrift/ulid.hpp"
#include "snowdrift/uuidv7.hpp"

namespace snowdrift::detail {

/// The ID of a field. Throws pqxx::conversion_error, constructed from the reason and `context`.
template <AnyId T, typename... Context>
T from_field(std::string_view text, const Context&... context) {
    T id;
    if (const ParseError error = T::parse(text, id))
        throw pqxx::conversion_error{explain<T>(error, text), context...};
    return id;
}

}  // namespace snowdrift::detail
