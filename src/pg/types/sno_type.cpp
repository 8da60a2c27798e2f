// The SQL type sno. id_type.hpp implements the functions that it shares with ulid. next_sno() is in
// draw/, the time predicates are in time_predicates.cpp.
#include "snowdrift/sno.hpp"

#include <bit>
#include <functional>

#include "pg/support/row.hpp"
#include "pg/types/diagram.hpp"
#include "pg/types/id_type.hpp"

extern "C" {
#include "utils/builtins.h"
#include "utils/uuid.h"
}

using namespace snowdrift;

namespace {

const Sno& sno_argument(FunctionCallInfo fcinfo) { return get_argument<Sno>(fcinfo, 0); }

/// The partition or the sequence in argument `n`. Raises 22003.
uint16_t get_uint16(FunctionCallInfo fcinfo, int n, const char* field) {
    return static_cast<uint16_t>(check_field(field, PG_GETARG_INT32(n), UINT16_MAX));
}

}  // namespace

// In the order of the install script.
SNOWDRIFT_FUNCTION_AS(sno_in, IdType<Sno>::in)
SNOWDRIFT_FUNCTION_AS(sno_out, IdType<Sno>::out)
SNOWDRIFT_FUNCTION_AS(sno_recv, IdType<Sno>::recv)
SNOWDRIFT_FUNCTION_AS(sno_send, IdType<Sno>::send)
SNOWDRIFT_FUNCTION_AS(bytea_to_sno, IdType<Sno>::from_bytea)
SNOWDRIFT_FUNCTION_AS(sno_eq, IdType<Sno>::compares<std::equal_to<>>)
SNOWDRIFT_FUNCTION_AS(sno_ne, IdType<Sno>::compares<std::not_equal_to<>>)
SNOWDRIFT_FUNCTION_AS(sno_lt, IdType<Sno>::compares<std::less<>>)
SNOWDRIFT_FUNCTION_AS(sno_le, IdType<Sno>::compares<std::less_equal<>>)
SNOWDRIFT_FUNCTION_AS(sno_gt, IdType<Sno>::compares<std::greater<>>)
SNOWDRIFT_FUNCTION_AS(sno_ge, IdType<Sno>::compares<std::greater_equal<>>)
SNOWDRIFT_FUNCTION_AS(sno_cmp, IdType<Sno>::cmp)
SNOWDRIFT_FUNCTION_AS(sno_sortsupport, IdType<Sno>::sortsupport)
SNOWDRIFT_FUNCTION_AS(sno_hash, IdType<Sno>::hash)
SNOWDRIFT_FUNCTION_AS(sno_hash_extended, IdType<Sno>::hash_extended)
SNOWDRIFT_FUNCTION_AS(sno_distance, IdType<Sno>::distance)
SNOWDRIFT_FUNCTION_AS(sno_smaller, IdType<Sno>::choose<std::less<>>)
SNOWDRIFT_FUNCTION_AS(sno_larger, IdType<Sno>::choose<std::greater<>>)
SNOWDRIFT_FUNCTION_AS(sno_timestamp, IdType<Sno>::timestamp)
SNOWDRIFT_FUNCTION_AS(sno_boundary, IdType<Sno>::boundary)
SNOWDRIFT_FUNCTION_AS(sno_nil, IdType<Sno>::nil)
SNOWDRIFT_FUNCTION_AS(sno_max, IdType<Sno>::max)
SNOWDRIFT_FUNCTION_AS(sno_to_timestamp, IdType<Sno>::timestamp)
SNOWDRIFT_FUNCTION_AS(timestamp_to_sno, IdType<Sno>::boundary)

/// sno_to_uuid(sno) → uuid: the 16 characters of the text form as bytes, which keeps the sort order
SNOWDRIFT_FUNCTION(sno_to_uuid) {
    static_assert(Sno::text_size == UUID_LEN);
    auto* const uuid = static_cast<char*>(palloc(UUID_LEN));
    sno_argument(fcinfo).format(uuid);
    PG_RETURN_POINTER(uuid);
}

/// uuid_to_sno(uuid) → sno
SNOWDRIFT_FUNCTION(uuid_to_sno) {
    const pg_uuid_t* const uuid = PG_GETARG_UUID_P(0);
    Sno id;
    const ParseError error = Sno::parse({reinterpret_cast<const char*>(uuid->data), UUID_LEN}, id);
    if (error) {
        const Datum shown = DirectFunctionCall1(uuid_out, UUIDPGetDatum(uuid));
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
                 errmsg("uuid does not contain the text of a sno: \"%s\"", DatumGetCString(shown)),
                 errdetail("Byte %zu is 0x%02x, which is not in the alphabet of type sno.",
                           error.index + 1, uuid->data[error.index])));
    }
    return make_datum(id);
}

/// sno_tick(sno) → int
SNOWDRIFT_FUNCTION(sno_tick) { PG_RETURN_INT32(sno_argument(fcinfo).tick()); }

/// sno_metabyte(sno) → int
SNOWDRIFT_FUNCTION(sno_metabyte) { PG_RETURN_INT32(sno_argument(fcinfo).metabyte()); }

/// sno_partition(sno) → int
SNOWDRIFT_FUNCTION(sno_partition) { PG_RETURN_INT32(sno_argument(fcinfo).partition()); }

/// sno_sequence(sno) → int
SNOWDRIFT_FUNCTION(sno_sequence) { PG_RETURN_INT32(sno_argument(fcinfo).sequence()); }

/// sno_parts(sno) → record of all fields
SNOWDRIFT_FUNCTION(sno_parts) {
    const Sno& id = sno_argument(fcinfo);
    return make_row(fcinfo, {TimestampTzGetDatum(timestamp_from_unix_ms(id.timestamp_ms())),
                             Int32GetDatum(id.tick()), Int32GetDatum(id.metabyte()),
                             Int32GetDatum(id.partition()), Int32GetDatum(id.sequence())});
}

/// sno_diagram(sno) → text
SNOWDRIFT_FUNCTION(sno_diagram) {
    const Sno& id = sno_argument(fcinfo);
    Diagram diagram{id.bytes().data()};
    diagram.add_time("timestamp", std::bit_width(Sno::max_units), id.timestamp_ms());
    diagram.add_number("tick", 1, id.tick());
    diagram.add_number("metabyte", 8, id.metabyte());
    diagram.add_number("partition", 16, id.partition());
    diagram.add_number("sequence", 16, id.sequence());
    return diagram.finish();
}

/// make_sno(timestamptz, metabyte int, partition int, sequence int, tick int) → sno
SNOWDRIFT_FUNCTION(make_sno) {
    return make_datum(Sno::compose({.units = Sno::units_at(time_of(get_time<Sno>(fcinfo, 0))),
                                    .tick = check_field("tick", PG_GETARG_INT32(4), 1) != 0,
                                    .metabyte = check_metabyte(PG_GETARG_INT32(1)),
                                    .partition = get_uint16(fcinfo, 2, "partition"),
                                    .sequence = get_uint16(fcinfo, 3, "sequence")}));
}

/// sno_set_metabyte(sno, metabyte int) → sno
SNOWDRIFT_FUNCTION(sno_set_metabyte) {
    return make_datum(sno_argument(fcinfo).with_metabyte(check_metabyte(PG_GETARG_INT32(1))));
}

/// sno_set_partition(sno, partition int) → sno
SNOWDRIFT_FUNCTION(sno_set_partition) {
    return make_datum(sno_argument(fcinfo).with_partition(get_uint16(fcinfo, 1, "partition")));
}

/// sno_set_sequence(sno, sequence int) → sno
SNOWDRIFT_FUNCTION(sno_set_sequence) {
    return make_datum(sno_argument(fcinfo).with_sequence(get_uint16(fcinfo, 1, "sequence")));
}
