// The SQL functions that decode and compose UUIDs of version 7. Their type is PostgreSQL's uuid,
// which can hold UUIDs of all versions. Functions that decode return null for other versions.
// next_uuidv7() is in draw/.
#include "snowdrift/uuidv7.hpp"

#include <cinttypes>
#include <optional>

#include "pg/support/checks.hpp"
#include "pg/support/datum.hpp"
#include "pg/types/diagram.hpp"
#include "pg/types/id_type.hpp"

extern "C" {
#include "utils/uuid.h"
}

using namespace snowdrift;

namespace {

static_assert(sizeof(Uuidv7) == UUID_LEN);

/// The UUID in argument 0; nullopt if it is of another version or variant.
std::optional<Uuidv7> version_7_argument(FunctionCallInfo fcinfo) {
    const auto& bytes = get_argument<Uuidv7::Bytes>(fcinfo, 0);
    if (!Uuidv7::is_version_7(bytes)) return std::nullopt;
    return Uuidv7{bytes};
}

}  // namespace

/// uuidv7_timestamp(uuid) → timestamptz
SNOWDRIFT_FUNCTION(uuidv7_timestamp) {
    const auto id = version_7_argument(fcinfo);
    if (!id) PG_RETURN_NULL();
    PG_RETURN_TIMESTAMPTZ(timestamp_from_unix_ms(id->timestamp_ms()));
}

/// uuidv7_randomness(uuid) → bytea
SNOWDRIFT_FUNCTION(uuidv7_randomness) {
    const auto id = version_7_argument(fcinfo);
    if (!id) PG_RETURN_NULL();
    return make_bytea(id->randomness());
}

/// uuidv7_diagram(uuid) → text
SNOWDRIFT_FUNCTION(uuidv7_diagram) {
    const auto id = version_7_argument(fcinfo);
    if (!id) PG_RETURN_NULL();
    Diagram diagram{id->bytes().data()};
    diagram.add_time("timestamp", Uuidv7::timestamp_bits, id->timestamp_ms());
    diagram.add("version", Uuidv7::version_bits, "7");
    diagram.add("rand_a", Uuidv7::rand_a_bits, psprintf("0x%03x", id->rand_a()));
    diagram.add("variant", Uuidv7::variant_bits, "10");
    diagram.add("rand_b", Uuidv7::rand_b_bits, psprintf("0x%016" PRIx64, id->rand_b()));
    return diagram.finish();
}

/// make_uuidv7(timestamptz, randomness bytea) → uuid
SNOWDRIFT_FUNCTION(make_uuidv7) {
    const auto randomness = get_randomness<Uuidv7>(fcinfo, 1);
    if (!Uuidv7::is_valid(randomness))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("randomness is too large for UUID version 7"),
                        errdetail("The first 6 of its 80 bits must be 0.")));
    return make_datum(Uuidv7::compose(time_of(get_time<Uuidv7>(fcinfo, 0)), randomness));
}

SNOWDRIFT_FUNCTION_AS(uuidv7_boundary, IdType<Uuidv7>::boundary)
