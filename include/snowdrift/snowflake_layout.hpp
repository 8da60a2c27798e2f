// The text form of Snowflake layouts, a preset's name or a list of fields, and the bounds of a
// valid layout. snowflake.hpp defines the layout itself.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "snowdrift/snowflake.hpp"
#include "snowdrift/snowflake_presets.hpp"
#include "snowdrift/utc.hpp"

namespace snowdrift {

/// The values of a layout that have bounds: its fields, in the order of the text form, and two sums
/// of their widths.
enum class LayoutField : uint8_t { epoch, timestamp, datacenter, worker, sequence, node, total };

/// The name of each LayoutField.
inline constexpr std::string_view layout_field_names[] = {"epoch",
                                                          "timestamp",
                                                          "datacenter",
                                                          "worker",
                                                          "sequence",
                                                          "datacenter+worker",
                                                          "timestamp+datacenter+worker+sequence"};

/// The values of a layout's five fields, which may be out of bounds: the epoch in milliseconds
/// since 1970-01-01T00:00:00Z, then the widths in bits.
using LayoutValues = std::array<int64_t, 5>;

/// The reason why a text or five values are not a layout. Converts to true if there is an error.
struct LayoutError {
    enum class Reason : uint8_t {
        none,
        word,      ///< `word` is not FIELD=VALUE, "js", or a preset that is the only word
        value,     ///< `word` is `field` with a malformed value
        repeated,  ///< `word` repeats an earlier field or "js"
        missing,   ///< the text does not contain `field`
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

/// Sets `layout` to the layout with these values if it is valid:
///
/// - the epoch is from 1970 to the end of 9999;
/// - the timestamp has 1 to 48 bits, so that timestamps are valid calendar times;
/// - datacenter and worker together have 0 to 31 bits, so that an SQL integer holds the node;
/// - the sequence has 0 to 31 bits, so that an SQL integer holds it;
/// - the sum of the widths is at most 64 bits, the first of which is the unused sign bit;
/// - with `js`, the sum is at most js_bits, and the timestamp reaches js_end_unix_ms.
///
/// On an error, leaves `layout` unchanged.
constexpr LayoutError make_layout(const LayoutValues& values, bool js,
                                  SnowflakeLayout& layout) noexcept {
    using Reason = LayoutError::Reason;
    LayoutError error;
    const auto ensure = [&error](LayoutField field, int64_t value, int64_t min, int64_t max,
                                 Reason reason = Reason::bounds) {
        if (!error && (value < min || value > max)) error = {reason, field, {}, value, min, max};
    };
    const auto [epoch, timestamp, datacenter, worker, sequence] = values;
    ensure(LayoutField::epoch, epoch, 0, max_epoch_unix_ms);
    ensure(LayoutField::timestamp, timestamp, 1, 48);
    ensure(LayoutField::datacenter, datacenter, 0, 31);
    ensure(LayoutField::worker, worker, 0, 31);
    ensure(LayoutField::sequence, sequence, 0, 31);
    if (error) return error;

    const int64_t node = datacenter + worker;
    const int64_t total = timestamp + node + sequence;
    ensure(LayoutField::node, node, 0, 31);
    if (js) {
        const int64_t first = js_end_unix_ms - ((int64_t{1} << timestamp) - 1);
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
              js};
    return {};
}

/// The values of `layout`, as make_layout() takes them.
constexpr LayoutValues values_of(const SnowflakeLayout& layout) noexcept {
    return {layout.epoch_unix_ms, layout.timestamp_bits, layout.datacenter_bits, layout.worker_bits,
            layout.sequence_bits};
}

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

/// Parses an integer of at most 18 digits. Returns false if the text is not one.
constexpr bool read_integer(std::string_view text, int64_t& number) noexcept {
    const bool is_negative = text.starts_with('-');
    if (is_negative) text.remove_prefix(1);
    if (text.empty() || text.size() > 18) return false;
    int64_t result = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') return false;
        result = result * 10 + (c - '0');
    }
    number = is_negative ? -result : result;
    return true;
}

}  // namespace detail

/// Parses a text: a preset's name; or, separated by white space and in any order, `FIELD=VALUE` for
/// each field and optionally `js`, which declares the layout safe in JavaScript. The epoch is a
/// time in the form of parse_utc(), or in milliseconds since 1970-01-01T00:00:00Z. The other values
/// are widths in bits; datacenter and worker default to 0. Sets `layout`, or returns an error and
/// leaves `layout` unchanged.
constexpr LayoutError parse_layout(std::string_view text, SnowflakeLayout& layout) noexcept {
    using Reason = LayoutError::Reason;
    std::string_view word = detail::take_word(text);
    if (text.empty()) {
        for (const LayoutPreset& preset : layout_presets) {
            if (word != preset.name) continue;
            layout = preset.layout;
            return {};
        }
    }

    LayoutValues values{};
    std::array<bool, values.size()> is_given{};
    bool js = false;
    for (; !word.empty(); word = detail::take_word(text)) {
        if (word == "js") {
            if (js) return {Reason::repeated, {}, word};
            js = true;
            continue;
        }
        const auto equals = std::find(word.begin(), word.end(), '=');
        const auto* const name = std::find(layout_field_names, layout_field_names + values.size(),
                                           std::string_view{word.begin(), equals});
        const auto index = static_cast<size_t>(name - layout_field_names);
        if (index == values.size() || equals == word.end()) return {Reason::word, {}, word};
        if (is_given[index]) return {Reason::repeated, {}, word};
        is_given[index] = true;

        const auto field = static_cast<LayoutField>(index);
        const std::string_view value{equals + 1, word.end()};
        if (!detail::read_integer(value, values[index]) &&
            !(field == LayoutField::epoch && parse_utc(value, values[index])))
            return {Reason::value, field, word};
    }
    for (const auto field : {LayoutField::epoch, LayoutField::timestamp, LayoutField::sequence})
        if (!is_given[static_cast<size_t>(field)]) return {Reason::missing, field};
    return make_layout(values, js, layout);
}

/// The maximum number of characters that format_layout() writes.
inline constexpr size_t max_layout_text_size =
    std::string_view{
        "epoch=2010-11-04T01:42:54.657Z timestamp=10 datacenter=10 worker=10 "
        "sequence=10 js"}
        .size();

/// Writes the text of a valid layout to `text`, without a terminating zero: the name if it is a
/// preset, else all fields in order. Returns the end of the characters.
constexpr char* format_layout(const SnowflakeLayout& layout, char* text) noexcept {
    const auto put = [&text](std::string_view word) {
        text = std::copy(word.begin(), word.end(), text);
    };
    for (const LayoutPreset& preset : layout_presets) {
        if (layout != preset.layout) continue;
        put(preset.name);
        return text;
    }
    const LayoutValues values = values_of(layout);
    put("epoch=");
    text = format_utc(layout.epoch_unix_ms, text);
    for (size_t i = 1; i < values.size(); ++i) {
        put(" ");
        put(layout_field_names[i]);
        put("=");
        text = detail::format_digits(values[i], 1, text);
    }
    if (layout.js) put(" js");
    return text;
}

// All presets are valid.
static_assert(std::ranges::all_of(layout_presets, [](const LayoutPreset& preset) {
    SnowflakeLayout layout{};
    return !make_layout(values_of(preset.layout), preset.layout.js, layout) &&
           layout == preset.layout;
}));

}  // namespace snowdrift
