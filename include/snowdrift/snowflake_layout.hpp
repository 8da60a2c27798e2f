// The text form of Snowflake layouts, a preset's name or a list of fields, and the bounds of a
// valid layout. snowflake.hpp defines the layout itself.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "snowdrift/snowflake.hpp"
#include "snowdrift/snowflake_presets.hpp"
#include "snowdrift/utc.hpp"

namespace snowdrift {

/// The values of a layout that have bounds: those of its text form, and two sums of widths.
enum class LayoutField : uint8_t {
    epoch,
    unit,
    timestamp,
    datacenter,
    worker,
    sequence,
    node,
    total,
};

/// The name of each LayoutField.
inline constexpr std::string_view layout_field_names[] = {
    "epoch",  "unit",     "timestamp",         "datacenter",
    "worker", "sequence", "datacenter+worker", "timestamp+datacenter+worker+sequence"};

/// The LayoutField of a field below the timestamp.
constexpr LayoutField layout_field_of(SnowflakeField field) noexcept {
    return static_cast<LayoutField>(static_cast<int>(LayoutField::datacenter) +
                                    static_cast<int>(field));
}
static_assert(layout_field_of(SnowflakeField::worker) == LayoutField::worker &&
              layout_field_of(SnowflakeField::sequence) == LayoutField::sequence);

constexpr const char* layout_field_name(LayoutField field) noexcept {
    return layout_field_names[static_cast<size_t>(field)].data();
}

/// The values of a layout, which may be out of bounds.
struct LayoutValues {
    int64_t epoch;  ///< in milliseconds since 1970-01-01T00:00:00Z
    int64_t timestamp;
    int64_t datacenter;
    int64_t worker;
    int64_t sequence;
    int64_t unit = 1;  ///< in milliseconds
    FieldOrder order = FieldOrder::datacenter_worker_sequence;
    bool js = false;

    friend constexpr bool operator==(const LayoutValues&, const LayoutValues&) = default;
};

/// The members of LayoutValues that the text form names, as layout_field_names.
inline constexpr int64_t LayoutValues::*layout_values[] = {
    &LayoutValues::epoch,      &LayoutValues::unit,   &LayoutValues::timestamp,
    &LayoutValues::datacenter, &LayoutValues::worker, &LayoutValues::sequence};

/// The reason why a string or values are not a layout. Converts to true if there is an error.
struct [[nodiscard]] LayoutError {
    enum class Reason : uint8_t {
        none,
        word,      ///< `word` is not FIELD=VALUE, "js", or a preset that is the only word
        value,     ///< `word` is `field` with a malformed value
        repeated,  ///< `word` repeats an earlier field or "js"
        missing,   ///< the text does not contain `field`
        order,     ///< `field` precedes the timestamp, or the value of FieldOrder does not exist
        bounds,    ///< `value` of `field` is not in min .. max
        unsafe,    ///< the same, with the bounds of a layout declared js
    };

    Reason reason = Reason::none;
    LayoutField field = LayoutField::epoch;
    std::string_view word{};  ///< a word of the text
    int64_t value = 0;
    int64_t min = 0;
    int64_t max = 0;

    constexpr explicit operator bool() const noexcept { return reason != Reason::none; }

    friend constexpr bool operator==(const LayoutError&, const LayoutError&) = default;
};

/// The last valid epoch. With it, no layout has a timestamp after the year 18919.
inline constexpr int64_t max_epoch_unix_ms = 253402300799999;  // 9999-12-31T23:59:59.999Z

/// The number of bits of an integer that a JavaScript number represents exactly.
inline constexpr int js_bits = 53;

/// The time that a layout declared js must reach: the last second of a signed 32-bit Unix time.
inline constexpr int64_t js_end_unix_ms = 2147483647000;  // 2038-01-19T03:14:07Z

/// The longest time unit, in milliseconds: 1 minute, which is also the shortest step of partitions.
inline constexpr int64_t max_unit_ms = 60'000;

/// The widest timestamp, in bits, of a time unit of 1 ms. Timestamps of longer units cover at most
/// the same time, 2^48 ms or 8919 years.
inline constexpr int max_timestamp_bits = 48;

namespace detail {

/// The order that equal layouts share: the first one with the same positions of all fields that
/// have bits.
constexpr FieldOrder canonical_order(const SnowflakeLayout& layout) noexcept {
    SnowflakeLayout other = layout;
    for (size_t i = 0; i < fields_in_order.size(); ++i) {
        other.order = static_cast<FieldOrder>(i);
        const auto is_same = [&](SnowflakeField field) {
            return layout.bits(field) == 0 || other.shift(field) == layout.shift(field);
        };
        const auto fields = layout.fields();
        if (std::all_of(fields.begin(), fields.end(), is_same)) break;
    }
    return other.order;
}

}  // namespace detail

/// Sets `layout` to the layout with these values if it is valid:
///
/// - the epoch is from 1970 to the end of 9999;
/// - the time unit is 1 .. max_unit_ms;
/// - the timestamp has at least 1 bit, and covers at most 2^max_timestamp_bits milliseconds, so
///   that timestamps are valid calendar times;
/// - datacenter and worker together have 0 to 31 bits, so that an SQL integer holds the node;
/// - the sequence has 0 to 31 bits, so that an SQL integer holds it;
/// - the sum of the widths is at most 64 bits, the first of which is the unused sign bit;
/// - with `js`, the sum is at most js_bits, and the timestamp reaches js_end_unix_ms;
/// - the order is one of FieldOrder.
///
/// The order of fields without bits is ignored. On an error, leaves `layout` unchanged.
constexpr LayoutError make_layout(const LayoutValues& values, SnowflakeLayout& layout) noexcept {
    using Reason = LayoutError::Reason;
    LayoutError error;
    const auto ensure = [&error](LayoutField field, int64_t value, int64_t min, int64_t max,
                                 Reason reason = Reason::bounds) {
        if (!error && (value < min || value > max)) error = {reason, field, {}, value, min, max};
    };
    const auto [epoch, timestamp, datacenter, worker, sequence, unit, order, js] = values;
    ensure(LayoutField::epoch, epoch, 0, max_epoch_unix_ms);
    ensure(LayoutField::unit, unit, 1, max_unit_ms);
    if (!error && static_cast<size_t>(order) >= fields_in_order.size())
        error = {Reason::order, LayoutField::timestamp};
    if (error) return error;
    const uint64_t max_timestamps =
        (uint64_t{1} << max_timestamp_bits) / static_cast<uint64_t>(unit);
    ensure(LayoutField::timestamp, timestamp, 1, 63 - std::countl_zero(max_timestamps));
    ensure(LayoutField::datacenter, datacenter, 0, 31);
    ensure(LayoutField::worker, worker, 0, 31);
    ensure(LayoutField::sequence, sequence, 0, 31);
    if (error) return error;

    const int64_t node = datacenter + worker;
    const int64_t total = timestamp + node + sequence;
    ensure(LayoutField::node, node, 0, 31);
    if (js) {
        const int64_t first = js_end_unix_ms - ((int64_t{1} << timestamp) - 1) * unit;
        ensure(LayoutField::total, total, 1, js_bits, Reason::unsafe);
        ensure(LayoutField::epoch, epoch, std::max(first, int64_t{0}), max_epoch_unix_ms,
               Reason::unsafe);
    } else {
        ensure(LayoutField::total, total, 1, 64);
    }
    if (error) return error;

    layout = {epoch,
              static_cast<uint8_t>(timestamp),
              static_cast<uint8_t>(datacenter),
              static_cast<uint8_t>(worker),
              static_cast<uint8_t>(sequence),
              js,
              order,
              static_cast<uint16_t>(unit)};
    layout.order = detail::canonical_order(layout);
    return {};
}

/// The values of `layout`, as make_layout() takes them.
constexpr LayoutValues values_of(const SnowflakeLayout& layout) noexcept {
    return {layout.epoch_unix_ms, layout.timestamp_bits, layout.datacenter_bits, layout.worker_bits,
            layout.sequence_bits, layout.unit_ms,        layout.order,           layout.js};
}

/// Whether make_layout() returns this layout.
[[nodiscard]] constexpr bool is_valid(const SnowflakeLayout& layout) noexcept {
    SnowflakeLayout valid{};
    return !make_layout(values_of(layout), valid) && valid == layout;
}
static_assert(std::all_of(std::begin(layout_presets), std::end(layout_presets),
                          [](const LayoutPreset& preset) { return is_valid(preset.layout); }));

namespace detail {

/// Removes the first word and the white space around it from `text`. Returns the word; an empty one
/// at the end of the text.
constexpr std::string_view take_word(std::string_view& text) noexcept {
    constexpr std::string_view spaces = " \t\n\v\f\r";
    const auto is_space = [&](char c) { return spaces.find(c) != spaces.npos; };
    const auto begin = std::find_if_not(text.begin(), text.end(), is_space);
    const auto end = std::find_if(begin, text.end(), is_space);
    text = {std::find_if_not(end, text.end(), is_space), text.end()};
    return {begin, end};
}

/// Parses an integer of at most `max_digits` digits; `max_digits` is at most 18. Returns false if
/// the text is not such an integer.
constexpr bool read_integer(std::string_view text, int64_t& number,
                            size_t max_digits = 18) noexcept {
    const bool is_negative = text.starts_with('-');
    if (is_negative) text.remove_prefix(1);
    if (text.empty() || text.size() > max_digits) return false;
    int64_t result = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') return false;
        result = result * 10 + (c - '0');
    }
    number = is_negative ? -result : result;
    return true;
}

/// Parses a time unit in milliseconds or seconds, such as 10ms or 1s, of at most 15 digits. Returns
/// false if the text is not one.
constexpr bool read_unit(std::string_view text, int64_t& unit_ms) noexcept {
    const bool is_ms = text.ends_with("ms");
    if (!is_ms && !text.ends_with('s')) return false;
    text.remove_suffix(is_ms ? 2 : 1);
    if (!read_integer(text, unit_ms, 15)) return false;
    if (!is_ms) unit_ms *= 1000;
    return true;
}

/// Parses the value of a field. Returns false if it is malformed.
constexpr bool read_value(LayoutField field, std::string_view text, int64_t& value) noexcept {
    if (field == LayoutField::unit) return read_unit(text, value);
    return read_integer(text, value) || (field == LayoutField::epoch && parse_utc(text, value));
}

}  // namespace detail

/// The maximum number of characters that format_unit() writes.
inline constexpr size_t max_unit_text_size = std::string_view{"9223372036854775807ms"}.size();

/// Writes a time unit as parse_layout() reads it: in seconds if it is at least one and they are
/// whole, else in milliseconds. Returns the end of the characters, at most max_unit_text_size.
/// Precondition: unit_ms >= 0.
constexpr char* format_unit(int64_t unit_ms, char* text) noexcept {
    assert(unit_ms >= 0);
    const bool is_s = unit_ms != 0 && unit_ms % 1000 == 0;
    text = detail::format_digits(is_s ? unit_ms / 1000 : unit_ms, 1, text);
    if (!is_s) *text++ = 'm';
    *text++ = 's';
    return text;
}

namespace detail {

/// The words of a layout's text that were read.
struct LayoutWords {
    using Reason = LayoutError::Reason;

    LayoutValues values{};
    LayoutError misplaced;  ///< of the first field that is before the timestamp
    int count = 0;
    std::array<int, std::size(layout_values)> places{};  ///< of the fields, from 1; 0: not given

    constexpr int place(LayoutField field) const noexcept {
        return places[static_cast<size_t>(field)];
    }

    /// Reads the next word.
    constexpr LayoutError read(std::string_view word) noexcept {
        if (word == "js") {
            if (values.js) return {Reason::repeated, {}, word};
            values.js = true;
            return {};
        }
        const auto equals = std::find(word.begin(), word.end(), '=');
        const auto* const name = std::find(layout_field_names, layout_field_names + places.size(),
                                           std::string_view{word.begin(), equals});
        const auto index = static_cast<size_t>(name - layout_field_names);
        if (index == places.size() || equals == word.end()) return {Reason::word, {}, word};
        if (places[index] != 0) return {Reason::repeated, {}, word};
        places[index] = ++count;

        const auto field = static_cast<LayoutField>(index);
        if (!read_value(field, {equals + 1, word.end()}, values.*layout_values[index]))
            return {Reason::value, field, word};
        if (field > LayoutField::timestamp && place(LayoutField::timestamp) == 0 && !misplaced)
            misplaced = {Reason::order, field, word};
        return {};
    }

    /// The order of the fields. Those that are not given have no bits, so it does not matter that
    /// they are first.
    constexpr FieldOrder order() const noexcept {
        const auto is_named_in_order = [this](const SnowflakeFields& fields) {
            return std::is_sorted(fields.begin(), fields.end(), [this](auto a, auto b) {
                return place(layout_field_of(a)) < place(layout_field_of(b));
            });
        };
        const auto* const found =
            std::find_if(fields_in_order.begin(), fields_in_order.end(), is_named_in_order);
        assert(found != fields_in_order.end());
        return static_cast<FieldOrder>(found - fields_in_order.begin());
    }
};

}  // namespace detail

/// Parses a string: a preset's name; or, separated by white space, `FIELD=VALUE` for each field and
/// optionally `js`, which declares the layout safe in JavaScript. The epoch is a time in the form
/// of parse_utc(), or in milliseconds since 1970-01-01T00:00:00Z. The unit is a number of
/// milliseconds or seconds, such as 10ms or 1s; 1ms by default. The other values are widths in
/// bits, in the order of the bits: the timestamp first, then datacenter, worker and sequence in any
/// order. Datacenter and worker default to 0. Sets `layout`, or returns an error and leaves
/// `layout` unchanged.
constexpr LayoutError parse_layout(std::string_view text, SnowflakeLayout& layout) noexcept {
    std::string_view word = detail::take_word(text);
    if (text.empty()) {
        for (const LayoutPreset& preset : layout_presets) {
            if (word != preset.name) continue;
            layout = preset.layout;
            return {};
        }
    }
    detail::LayoutWords words;
    for (; !word.empty(); word = detail::take_word(text))
        if (const LayoutError error = words.read(word)) return error;
    for (const auto field : {LayoutField::epoch, LayoutField::timestamp, LayoutField::sequence})
        if (words.place(field) == 0) return {LayoutError::Reason::missing, field};
    if (words.misplaced) return words.misplaced;
    words.values.order = words.order();
    return make_layout(words.values, layout);
}

/// The maximum number of characters that format_layout() writes.
inline constexpr size_t max_layout_text_size =
    std::string_view{
        "epoch=2010-11-04T01:42:54.657Z unit=59999ms timestamp=10 datacenter=10 worker=10 "
        "sequence=10 js"}
        .size();

/// Writes the text of a valid layout to `text`, without a terminating zero: the name if it is a
/// preset, else the epoch, the unit if it is not 1 ms, and the fields in the order of their bits,
/// without a datacenter or worker that has no bits. Returns the end of the characters.
constexpr char* format_layout(const SnowflakeLayout& layout, char* text) noexcept {
    assert(is_valid(layout));
    const auto put = [&text](std::string_view word) {
        text = std::copy(word.begin(), word.end(), text);
    };
    const auto put_name = [&](LayoutField field) {
        if (field != LayoutField::epoch) put(" ");
        put(layout_field_names[static_cast<size_t>(field)]);
        put("=");
    };
    for (const LayoutPreset& preset : layout_presets) {
        if (layout != preset.layout) continue;
        put(preset.name);
        return text;
    }
    put_name(LayoutField::epoch);
    text = format_utc(layout.epoch_unix_ms, text);
    if (layout.unit_ms != 1) {
        put_name(LayoutField::unit);
        text = format_unit(layout.unit_ms, text);
    }
    put_name(LayoutField::timestamp);
    text = detail::format_digits(layout.timestamp_bits, 1, text);
    for (const SnowflakeField field : layout.fields()) {
        if (layout.bits(field) == 0 && field != SnowflakeField::sequence) continue;
        put_name(layout_field_of(field));
        text = detail::format_digits(layout.bits(field), 1, text);
    }
    if (layout.js) put(" js");
    return text;
}

}  // namespace snowdrift
