// The SQL type ulid. id_type.hpp implements the functions that it shares with sno. next_ulid() is
// in draw/, the time predicates are in time_predicates.cpp.
#include "snowdrift/ulid.hpp"

#include <bit>
#include <functional>

#include "pg/types/diagram.hpp"
#include "pg/types/id_type.hpp"

extern "C" {
#include "utils/builtins.h"
}

using namespace snowdrift;

// In the order of the install script.
SNOWDRIFT_FUNCTION_AS(ulid_in, IdType<Ulid>::in)
SNOWDRIFT_FUNCTION_AS(ulid_out, IdType<Ulid>::out)
SNOWDRIFT_FUNCTION_AS(ulid_recv, IdType<Ulid>::recv)
SNOWDRIFT_FUNCTION_AS(ulid_send, IdType<Ulid>::send)
SNOWDRIFT_FUNCTION_AS(bytea_to_ulid, IdType<Ulid>::from_bytea)
SNOWDRIFT_FUNCTION_AS(ulid_eq, IdType<Ulid>::compares<std::equal_to<>>)
SNOWDRIFT_FUNCTION_AS(ulid_ne, IdType<Ulid>::compares<std::not_equal_to<>>)
SNOWDRIFT_FUNCTION_AS(ulid_lt, IdType<Ulid>::compares<std::less<>>)
SNOWDRIFT_FUNCTION_AS(ulid_le, IdType<Ulid>::compares<std::less_equal<>>)
SNOWDRIFT_FUNCTION_AS(ulid_gt, IdType<Ulid>::compares<std::greater<>>)
SNOWDRIFT_FUNCTION_AS(ulid_ge, IdType<Ulid>::compares<std::greater_equal<>>)
SNOWDRIFT_FUNCTION_AS(ulid_cmp, IdType<Ulid>::cmp)
SNOWDRIFT_FUNCTION_AS(ulid_sortsupport, IdType<Ulid>::sortsupport)
SNOWDRIFT_FUNCTION_AS(ulid_hash, IdType<Ulid>::hash)
SNOWDRIFT_FUNCTION_AS(ulid_hash_extended, IdType<Ulid>::hash_extended)
SNOWDRIFT_FUNCTION_AS(ulid_distance, IdType<Ulid>::distance)
SNOWDRIFT_FUNCTION_AS(ulid_smaller, IdType<Ulid>::choose<std::less<>>)
SNOWDRIFT_FUNCTION_AS(ulid_larger, IdType<Ulid>::choose<std::greater<>>)
SNOWDRIFT_FUNCTION_AS(ulid_timestamp, IdType<Ulid>::timestamp)
SNOWDRIFT_FUNCTION_AS(ulid_boundary, IdType<Ulid>::boundary)
SNOWDRIFT_FUNCTION_AS(ulid_nil, IdType<Ulid>::nil)
SNOWDRIFT_FUNCTION_AS(ulid_max, IdType<Ulid>::max)

SNOWDRIFT_FUNCTION_AS(ulid_to_timestamp, IdType<Ulid>::timestamp)
SNOWDRIFT_FUNCTION_AS(timestamp_to_ulid, IdType<Ulid>::boundary)

/// ulid_randomness(ulid) → bytea
SNOWDRIFT_FUNCTION(ulid_randomness) {
    return make_bytea(get_argument<Ulid>(fcinfo, 0).randomness());
}

/// ulid_diagram(ulid) → text
SNOWDRIFT_FUNCTION(ulid_diagram) {
    const Ulid& id = get_argument<Ulid>(fcinfo, 0);
    const Ulid::Randomness randomness = id.randomness();
    auto* const hex = static_cast<char*>(palloc0(2 * randomness.size() + 1));
    hex_encode(reinterpret_cast<const char*>(randomness.data()), randomness.size(), hex);

    const int timestamp_bits = std::bit_width(uint64{Ulid::max_timestamp_ms});
    Diagram diagram{id.bytes().data()};
    diagram.add_time("timestamp", timestamp_bits, id.timestamp_ms());
    diagram.add("randomness", 8 * int{Ulid::size} - timestamp_bits, psprintf("\\x%s", hex));
    return diagram.finish();
}

/// make_ulid(timestamptz, randomness bytea) → ulid
SNOWDRIFT_FUNCTION(make_ulid) {
    const auto randomness = get_randomness<Ulid>(fcinfo, 1);
    return make_datum(Ulid::compose(time_of(get_time<Ulid>(fcinfo, 0)), randomness));
}
