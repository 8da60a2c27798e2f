// The ID types as libpqxx values: parameters, fields of results, arrays, stream_to, stream_from and
// typed queries. For libpqxx 6.4, 7 and 8; docs/cpp.md has examples. Reading a string that is not
// an ID throws pqxx::conversion_error with the reason, as does reading a number that is not an ID
// of the Snowflake's layout, or a UUID of another version.
#pragma once

#include "snowdrift/requirements.hpp"  // first: libpqxx may require less

#include <pqxx/version>

#if PQXX_VERSION_MAJOR >= 8
#include "snowdrift/pqxx/traits_8.hpp"
#elif PQXX_VERSION_MAJOR == 7
#include "snowdrift/pqxx/traits_7.hpp"
#else
#include "snowdrift/pqxx/traits_6.hpp"
#endif
