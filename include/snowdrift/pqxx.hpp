// The ID types as libpqxx values: parameters, fields of results, arrays, stream_to, stream_from and
// typed queries. For libpqxx 6.4, 7 and 8, whose interfaces for that differ: pqxx has a file for
// each, and ids.hpp, which they share. docs/cpp.md has examples.
//
// The rule: all text is read by the ID type's parse(). Reading a string that is not an ID throws
// pqxx::conversion_error with the reason, as does reading a number that is not an ID of the
// Snowflake's layout, or a UUID of another version. A null is not an ID either: read it as a
// std::optional.
//
// What can go wrong: a bigint does not contain its layout. Reading an ID of another layout usually
// succeeds, but its time and fields are wrong.
//
// The proof in docs/guarantees.md does not rely on this file.
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
