// The SQL type ulid: what it shares with sno by way of IdType, and what only a ULID has. Generating
// is not here.
#include "snowdrift/ulid.hpp"

#include <bit>

#include "pg/planner/time_predicates.hpp"
#include "pg/types/diagram.hpp"
#include "pg/types/id_type.hpp"

extern "C" {
#include "utils/builtins.h"
}

using namespace snowdrift;

SNOWDRIFT_ID_TYPE(ulid, Ulid)
SNOWDRIFT_TIME_PREDICATES(ulid, Ulid)

/// ulid_max() → ulid
SNOWDRIFT_FUNCTION(ulid_max) { return make_datum(Ulid::max()); }

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
    const TimestampTz time = PG_GETARG_TIMESTAMPTZ(0);
    const bytea* const bytes = PG_GETARG_BYTEA_PP(1);
    Ulid::Randomness randomness;
    if (VARSIZE_ANY_EXHDR(bytes) != randomness.size())
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("invalid length of randomness: %zu bytes instead of %zu",
                               size_t{VARSIZE_ANY_EXHDR(bytes)}, randomness.size())));
    std::memcpy(randomness.data(), VARDATA_ANY(bytes), randomness.size());
    return make_datum(
        Ulid::compose(check_time(IdTraits<Ulid>::times, time, unix_ms_floor(time)), randomness));
}
