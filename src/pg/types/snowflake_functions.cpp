// The SQL functions that decode and compose Snowflake IDs, in the default layout or in a given one,
// and convert them to text and back. next_snowflake() is in draw/, snowflake_within() in
// time_predicates.cpp.
#include "snowdrift/snowflake.hpp"

#include "pg/support/checks.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/row.hpp"
#include "pg/support/time.hpp"
#include "pg/types/diagram.hpp"
#include "pg/types/snowflake_layout_type.hpp"
#include "pg/types/text_errors.hpp"
#include "snowdrift/endian.hpp"
#include "snowdrift/snowflake_layout.hpp"
#include "snowdrift/snowflake_text.hpp"

extern "C" {
#include "utils/builtins.h"
}

using namespace snowdrift;

namespace {

/// Split the ID in argument 0, in the layout of the optional argument 1.
SnowflakeParts split_argument(FunctionCallInfo fcinfo) {
    const SnowflakeLayout& layout = get_layout_argument(fcinfo, 1);
    return layout.split(check_snowflake(layout, PG_GETARG_INT64(0)));
}

}  // namespace

/// snowflake_timestamp(bigint [, snowflake_layout]) → timestamptz
SNOWDRIFT_FUNCTION(snowflake_timestamp) {
    PG_RETURN_TIMESTAMPTZ(timestamp_from_unix_ms(unix_ms_of(split_argument(fcinfo).time)));
}

/// snowflake_datacenter(bigint [, snowflake_layout]) → int
SNOWDRIFT_FUNCTION(snowflake_datacenter) { PG_RETURN_INT32(split_argument(fcinfo).datacenter); }

/// snowflake_worker(bigint [, snowflake_layout]) → int
SNOWDRIFT_FUNCTION(snowflake_worker) { PG_RETURN_INT32(split_argument(fcinfo).worker); }

/// snowflake_sequence(bigint [, snowflake_layout]) → int
SNOWDRIFT_FUNCTION(snowflake_sequence) { PG_RETURN_INT32(split_argument(fcinfo).sequence); }

/// snowflake_parts(bigint [, snowflake_layout]) → record of all fields
SNOWDRIFT_FUNCTION(snowflake_parts) {
    const SnowflakeParts parts = split_argument(fcinfo);
    return make_row(fcinfo, {TimestampTzGetDatum(timestamp_from_unix_ms(unix_ms_of(parts.time))),
                             Int32GetDatum(parts.datacenter), Int32GetDatum(parts.worker),
                             Int32GetDatum(parts.sequence)});
}

/// snowflake_diagram(bigint [, snowflake_layout]) → text
SNOWDRIFT_FUNCTION(snowflake_diagram) {
    const SnowflakeLayout& layout = get_layout_argument(fcinfo, 1);
    const SnowflakeParts parts = split_argument(fcinfo);
    std::array<uint8_t, sizeof(int64)> bytes;
    store_big_endian(static_cast<uint64>(PG_GETARG_INT64(0)), bytes.data());
    Diagram diagram{bytes.data()};
    diagram.add_number("unused", 64 - layout.timestamp_bits - layout.timestamp_shift(), 0);
    diagram.add_time("timestamp", layout.timestamp_bits, unix_ms_of(parts.time));
    for (const SnowflakeField field : layout.fields())
        diagram.add_number(layout_field_name(layout_field_of(field)), layout.bits(field),
                           parts.value(field));
    return diagram.finish();
}

/// make_snowflake(timestamptz, datacenter int, worker int, sequence int [, snowflake_layout])
/// → bigint
SNOWDRIFT_FUNCTION(make_snowflake) {
    const TimestampTz time = PG_GETARG_TIMESTAMPTZ(0);
    const SnowflakeLayout& layout = get_layout_argument(fcinfo, 4);
    PG_RETURN_INT64(layout.compose(
        {time_of(check_time(times_of(layout), time, layout.truncate(timestamp_floor_ms(time)))),
         check_field("datacenter", PG_GETARG_INT32(1), layout.max_datacenter()),
         check_field("worker", PG_GETARG_INT32(2), layout.max_worker()),
         check_field("sequence", PG_GETARG_INT32(3), layout.max_sequence())}));
}

/// snowflake_boundary(timestamptz [, snowflake_layout]) → bigint
SNOWDRIFT_FUNCTION(snowflake_boundary) {
    const TimestampTz time = PG_GETARG_TIMESTAMPTZ(0);
    const SnowflakeLayout& layout = get_layout_argument(fcinfo, 1);
    PG_RETURN_INT64(
        layout.boundary(time_of(check_time(times_of(layout), time, timestamp_ceil_ms(time)))));
}

/// snowflake_to_text(bigint) → text
SNOWDRIFT_FUNCTION(snowflake_to_text) {
    char text[SnowflakeText::size];
    SnowflakeText::format(check_snowflake(default_layout, PG_GETARG_INT64(0)), text);
    PG_RETURN_TEXT_P(cstring_to_text_with_len(text, sizeof text));
}

/// snowflake_from_text(text) → bigint
SNOWDRIFT_FUNCTION(snowflake_from_text) {
    const char* const input = text_to_cstring(PG_GETARG_TEXT_PP(0));
    int64 id;
    if (const ParseError error = SnowflakeText::parse(input, id))
        ereport(ERROR, (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
                        errmsg("invalid text of a Snowflake ID: \"%s\"", input),
                        explain_text<CrockfordAlphabet>(
                            input, error, {"input", 0, SnowflakeText::size, 63, "Snowflake IDs"})));
    PG_RETURN_INT64(id);
}
