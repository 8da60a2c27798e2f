// The SQL type snowflake_layout: a SnowflakeLayout's 16 bytes, as they are in memory. What takes
// one as an argument is not here.
#include "pg/types/snowflake_layout_type.hpp"

#include "pg/support/time.hpp"
#include "snowdrift/snowflake_layout.hpp"

extern "C" {
#include "common/hashfn.h"
#include "libpq/pqformat.h"
}

using namespace snowdrift;

namespace {

const char* name_of(LayoutField field) {
    return layout_field_names[static_cast<size_t>(field)].data();
}

/// Say in an error's detail why a text does not even describe a layout.
int explain_syntax(const LayoutError& error) {
    const auto length = static_cast<int>(error.word.size());
    const char* const word = error.word.data();
    switch (error.reason) {
        case LayoutError::Reason::value:
            return errdetail("\"%.*s\" does not give %s.", length, word,
                             error.field == LayoutField::epoch ? "a time" : "a number of bits");
        case LayoutError::Reason::repeated:
            return errdetail("\"%.*s\" repeats what was given before.", length, word);
        case LayoutError::Reason::missing:
            return errdetail("\"%s\" is missing.", name_of(error.field));
        default:
            return errdetail("\"%.*s\" is neither a field nor a preset's name on its own.", length,
                             word);
    }
}

/// Say in an error's hint what a layout looks like.
int show_syntax() {
    StringInfoData names;
    initStringInfo(&names);
    for (const LayoutPreset& preset : layout_presets)
        appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", preset.name.data());
    return errhint(
        "Presets are %s. Fields are given like \"epoch=2024-01-01T00:00:00Z timestamp=41 "
        "datacenter=5 worker=5 sequence=12\".",
        names.data);
}

/// The value of a field, or a bound of it, as it is written.
const char* show_value(LayoutField field, int64 value) {
    if (field == LayoutField::epoch && value >= 0 && value <= max_epoch_unix_ms)
        return utc_text(value);
    return psprintf("%lld", static_cast<long long>(value));
}

/// Say in an error's detail why a layout that is declared js has narrower bounds than others.
int explain_js(const LayoutError& error) {
    if (error.reason != LayoutError::Reason::unsafe) return 0;
    if (error.field == LayoutField::epoch)
        return errdetail("The timestamp of a layout declared \"js\" has to reach %s.",
                         utc_text(js_end_unix_ms));
    return errdetail("A layout declared \"js\" has IDs that a JavaScript number holds exactly.");
}

/// Report that something is not a layout, softly if the caller asks for that.
Datum reject_bounds(const LayoutError& error, int sqlstate, fmNodePtr context) {
    ereturn(context, Datum{0},
            (errcode(sqlstate),
             errmsg("%s %s is out of range %s .. %s for type snowflake_layout",
                    name_of(error.field), show_value(error.field, error.value),
                    show_value(error.field, error.min), show_value(error.field, error.max)),
             explain_js(error)));
}

Datum reject_text(const char* text, const LayoutError& error, fmNodePtr context) {
    if (error.reason == LayoutError::Reason::bounds || error.reason == LayoutError::Reason::unsafe)
        return reject_bounds(error, ERRCODE_INVALID_PARAMETER_VALUE, context);
    ereturn(context, Datum{0},
            (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
             errmsg("invalid input syntax for type snowflake_layout: \"%s\"", text),
             explain_syntax(error), show_syntax()));
}

bool are_equal(FunctionCallInfo fcinfo) {
    return get_layout(PG_GETARG_DATUM(0)) == get_layout(PG_GETARG_DATUM(1));
}

const unsigned char* bytes_argument(FunctionCallInfo fcinfo) {
    return reinterpret_cast<const unsigned char*>(PG_GETARG_POINTER(0));
}

}  // namespace

SNOWDRIFT_FUNCTION(snowflake_layout_in) {
    const char* const text = PG_GETARG_CSTRING(0);
    SnowflakeLayout layout{};
    if (const LayoutError error = parse_layout(text, layout))
        return reject_text(text, error, fcinfo->context);
    return make_datum(layout);
}

SNOWDRIFT_FUNCTION(snowflake_layout_out) {
    auto* const text = static_cast<char*>(palloc(max_layout_text_size + 1));
    *format_layout(get_layout(PG_GETARG_DATUM(0)), text) = '\0';
    PG_RETURN_CSTRING(text);
}

/// The binary form: the epoch in eight bytes, the widths of timestamp, datacenter, worker and
/// sequence and whether it is declared js in one byte each.
SNOWDRIFT_FUNCTION(snowflake_layout_recv) {
    auto* const message = reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0));
    LayoutValues values{pq_getmsgint64(message)};
    for (size_t i = 1; i < values.size(); ++i) values[i] = pq_getmsgbyte(message);
    const bool js = pq_getmsgbyte(message) != 0;
    SnowflakeLayout layout{};
    if (const LayoutError error = make_layout(values, js, layout))
        return reject_bounds(error, ERRCODE_INVALID_BINARY_REPRESENTATION, nullptr);
    return make_datum(layout);
}

SNOWDRIFT_FUNCTION(snowflake_layout_send) {
    const SnowflakeLayout& layout = get_layout(PG_GETARG_DATUM(0));
    const LayoutValues values = values_of(layout);
    StringInfoData message;
    pq_begintypsend(&message);
    pq_sendint64(&message, values[0]);
    for (size_t i = 1; i < values.size(); ++i) pq_sendint8(&message, static_cast<uint8>(values[i]));
    pq_sendint8(&message, layout.js);
    PG_RETURN_BYTEA_P(pq_endtypsend(&message));
}

SNOWDRIFT_FUNCTION(snowflake_layout_eq) { PG_RETURN_BOOL(are_equal(fcinfo)); }

SNOWDRIFT_FUNCTION(snowflake_layout_ne) { PG_RETURN_BOOL(!are_equal(fcinfo)); }

SNOWDRIFT_FUNCTION(snowflake_layout_hash) {
    return hash_any(bytes_argument(fcinfo), sizeof(SnowflakeLayout));
}

SNOWDRIFT_FUNCTION(snowflake_layout_hash_extended) {
    return hash_any_extended(bytes_argument(fcinfo), sizeof(SnowflakeLayout),
                             static_cast<uint64>(PG_GETARG_INT64(1)));
}
