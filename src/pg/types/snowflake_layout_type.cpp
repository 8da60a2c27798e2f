// The SQL type snowflake_layout, stored as the 16 bytes of a SnowflakeLayout. Functions that take a
// layout as an argument are elsewhere.
#include "pg/types/snowflake_layout_type.hpp"

#include <algorithm>
#include <cstring>

#include "pg/support/time.hpp"
#include "snowdrift/snowflake_layout.hpp"

extern "C" {
#include "common/hashfn.h"
#include "libpq/pqformat.h"
}

using namespace snowdrift;

namespace {

bool is_preset_name(std::string_view word) {
    return std::ranges::any_of(layout_presets,
                               [&](const LayoutPreset& preset) { return preset.name == word; });
}

/// What the value of a field is, for error messages.
const char* kind_of_value(LayoutField field) {
    if (field == LayoutField::epoch) return "time";
    return field == LayoutField::unit ? "number of milliseconds or seconds" : "number of bits";
}

/// Whether a string is a list of fields. Another one could be meant as a preset's name.
bool has_fields(const char* text) { return std::strchr(text, '=') != nullptr; }

/// Add the reason for a syntax error to the error's detail.
int explain_syntax(const char* text, const LayoutError& error) {
    const auto length = static_cast<int>(error.word.size());
    const char* const word = error.word.data();
    const auto name_length = static_cast<int>(error.word.substr(0, error.word.find('=')).size());
    switch (error.reason) {
        case LayoutError::Reason::value:
            return errdetail("The value in \"%.*s\" is not a valid %s.", length, word,
                             kind_of_value(error.field));
        case LayoutError::Reason::repeated:
            return errdetail("\"%.*s\" is specified more than once.", name_length, word);
        case LayoutError::Reason::missing:
            return errdetail("\"%s\" is missing.", layout_field_name(error.field));
        case LayoutError::Reason::order:
            return errdetail(R"("%.*s" precedes "timestamp", so IDs would not sort by time.)",
                             name_length, word);
        default:
            if (is_preset_name(error.word))
                return errdetail("The preset \"%.*s\" cannot be combined with other words.", length,
                                 word);
            if (has_fields(text)) return errdetail("\"%.*s\" is not a field.", length, word);
            return errdetail("\"%.*s\" is neither a field nor a preset.", length, word);
    }
}

constexpr const char* example =
    "epoch=2024-01-01T00:00:00Z unit=1ms timestamp=41 datacenter=5 worker=5 sequence=12";

/// Add the presets and the syntax of fields to the error's hint.
int show_syntax() {
    StringInfoData names;
    initStringInfo(&names);
    for (const LayoutPreset& preset : layout_presets)
        appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", preset.name.data());
    return errhint(
        "Valid presets are %s. Fields are written as in \"%s\", in the order of their bits.",
        names.data, example);
}

/// Add what corrects a syntax error to the error's hint.
int show_correction(const char* text) {
    if (!has_fields(text)) return show_syntax();
    return errhint(
        "Fields are epoch, unit, timestamp, datacenter, worker, sequence and js, as in \"%s\", in "
        "the order of their bits.",
        example);
}

/// Format the value of a field, or one of its bounds, as its text form does. An epoch outside its
/// bounds and a negative unit are numbers of milliseconds.
const char* show_value(LayoutField field, int64 value) {
    if (field == LayoutField::epoch && value >= 0 && value <= max_epoch_unix_ms)
        return utc_text(value);
    if (field == LayoutField::unit && value >= 0) {
        auto* const text = static_cast<char*>(palloc(max_unit_text_size + 1));
        *format_unit(value, text) = '\0';
        return text;
    }
    return psprintf("%lld", static_cast<long long>(value));
}

/// Add the requirement of layouts declared js to the error's detail, if the value violates one.
int explain_js(const LayoutError& error) {
    if (error.reason != LayoutError::Reason::unsafe) return 0;
    if (error.field == LayoutField::epoch)
        return errdetail("The timestamp of a layout declared \"js\" must reach %s.",
                         utc_text(js_end_unix_ms));
    return errdetail("The IDs of a layout declared \"js\" must be exact as JavaScript numbers.");
}

/// Raise `sqlstate` for a value that is out of bounds, as a soft error if the caller supports it.
Datum reject_bounds(const LayoutError& error, int sqlstate, Node* context) {
    ereturn(context, Datum{0},
            (errcode(sqlstate),
             errmsg("%s %s is out of range %s .. %s for type snowflake_layout",
                    layout_field_name(error.field), show_value(error.field, error.value),
                    show_value(error.field, error.min), show_value(error.field, error.max)),
             explain_js(error)));
}

Datum reject_text(const char* text, const LayoutError& error, Node* context) {
    if (error.reason == LayoutError::Reason::bounds || error.reason == LayoutError::Reason::unsafe)
        return reject_bounds(error, ERRCODE_INVALID_PARAMETER_VALUE, context);
    ereturn(context, Datum{0},
            (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
             errmsg("invalid input syntax for type snowflake_layout: \"%s\"", text),
             explain_syntax(text, error), show_correction(text)));
}

bool are_equal(FunctionCallInfo fcinfo) {
    return get_layout(PG_GETARG_DATUM(0)) == get_layout(PG_GETARG_DATUM(1));
}

const unsigned char* bytes_argument(FunctionCallInfo fcinfo) {
    return reinterpret_cast<const unsigned char*>(PG_GETARG_POINTER(0));
}

}  // namespace

char* snowdrift::layout_text(const SnowflakeLayout& layout) {
    auto* const text = static_cast<char*>(palloc(max_layout_text_size + 1));
    *format_layout(layout, text) = '\0';
    return text;
}

void snowdrift::report_not_present(const SnowflakeLayout& layout, int64 now_ms, int sqlstate) {
    ereport(
        ERROR,
        (errcode(sqlstate),
         errmsg(now_ms < layout.epoch_unix_ms ? "layout \"%s\" has not begun"
                                              : "layout \"%s\" has ended",
                layout_text(layout)),
         errdetail("Its IDs have times from %s to %s. The server's clock is at %s.",
                   utc_text(layout.epoch_unix_ms), utc_text(layout.max_unix_ms()),
                   utc_text(now_ms)),
         errhint("Use a layout that contains the present. If the server's clock is wrong, correct "
                 "it.")));
}

SNOWDRIFT_FUNCTION(snowflake_layout_in) {
    const char* const text = PG_GETARG_CSTRING(0);
    SnowflakeLayout layout{};
    if (const LayoutError error = parse_layout(text, layout))
        return reject_text(text, error, fcinfo->context);
    return make_datum(layout);
}

SNOWDRIFT_FUNCTION(snowflake_layout_out) {
    PG_RETURN_CSTRING(layout_text(get_layout(PG_GETARG_DATUM(0))));
}

/// The binary form: the epoch in eight bytes, in Unix milliseconds; the widths of timestamp,
/// datacenter, worker and sequence in one byte each; js in one byte; the FieldOrder in one byte;
/// the time unit in two bytes, in milliseconds. Numbers are big-endian.
SNOWDRIFT_FUNCTION(snowflake_layout_recv) {
    auto* const message = reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0));
    LayoutValues values{};
    values.epoch = pq_getmsgint64(message);
    values.timestamp = pq_getmsgbyte(message);
    values.datacenter = pq_getmsgbyte(message);
    values.worker = pq_getmsgbyte(message);
    values.sequence = pq_getmsgbyte(message);
    values.js = pq_getmsgbyte(message) != 0;
    const int order = pq_getmsgbyte(message);
    if (order >= static_cast<int>(fields_in_order.size()))
        ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
                        errmsg("invalid order of fields for type snowflake_layout: %d", order)));
    values.order = static_cast<FieldOrder>(order);
    values.unit = pq_getmsgint(message, 2);
    SnowflakeLayout layout{};
    if (const LayoutError error = make_layout(values, layout))
        return reject_bounds(error, ERRCODE_INVALID_BINARY_REPRESENTATION, nullptr);
    return make_datum(layout);
}

SNOWDRIFT_FUNCTION(snowflake_layout_send) {
    const SnowflakeLayout& layout = get_layout(PG_GETARG_DATUM(0));
    StringInfoData message;
    pq_begintypsend(&message);
    pq_sendint64(&message, layout.epoch_unix_ms);
    pq_sendint8(&message, layout.timestamp_bits);
    pq_sendint8(&message, layout.datacenter_bits);
    pq_sendint8(&message, layout.worker_bits);
    pq_sendint8(&message, layout.sequence_bits);
    pq_sendint8(&message, layout.js);
    pq_sendint8(&message, static_cast<uint8>(layout.order));
    pq_sendint16(&message, layout.unit_ms);
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
