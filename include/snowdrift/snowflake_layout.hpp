// The text form of Snowflake layouts: a preset's name, or field by field; and the bounds of a valid
// layout. snowflake.hpp defines the layout itself.
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

/// What has bounds in a layout: its fields, in the order in which they are written, and two sums of
/// their widths.
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

/// Why a text or five values are not a layout: true if there is an error.
struct LayoutError {
    enum class Reason : uint8_t {
        none,
        word,      ///< `word` of the text is no field with a value, nor "js" or a lone preset
        value,     ///< `word` of the text gives `field` a value that can't be read
        repeated,  ///< `word` of the text has a field that was there before
        missing,   ///< the text doesn't have `field`
        bounds,    ///< `value` of `field` is not within min .. max
        unsafe,    ///< the same, and the bounds are those of a layout declared js
    };

    Reason reason = Reason::none;
    LayoutField field = LayoutField::epoch;
    std::string_view word{};
    int64_t value = 0;
    int64_t min = 0;
    int64_t max = 0;

    constexpr explicit operator bool() const noexcept { return reason != Reason::none; }

    friend constexpr bool operator==(const LayoutError&, const LayoutError&) = default;
};

/// The last epoch. No time of any layout is then past the year 18919.
inline constexpr int64_t max_epoch_unix_ms = 253402300799999;  // 9999-12-31T23:59:59.999Z

/// What a JavaScript number holds of an integer.
inline constexpr int js_bits = 53;

/// The time that a layout declared js has to reach: the last one of 32-bit Unix seconds.
inline constexpr int64_t js_end_unix_ms = 2147483647000;  // 2038-01-19T03:14:07Z

/// Sets `layout` to the one of these values, if it is sound:
///
/// - the epoch is from 1970 to the end of 9999;
/// - the timestamp has 1 to 48 bits, so that every time is one of the calendar;
/// - datacenter and worker have 0 to 31 bits together, and so has the sequence, so that SQL's
///   integers hold each;
/// - these are at most 64 bits, of which an ID then leaves the first 0;
/// - declared `js`, they are at most js_bits, and the timestamp reaches js_end_unix_ms.
///
/// On an error, `layout` stays as it was.
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

/// The values that make_layout() makes `layout` of.
constexpr LayoutValues values_of(const SnowflakeLayout& layout) noexcept {
    return {layout.epoch_unix_ms, layout.timestamp_bits, layout.datacenter_bits, layout.worker_bits,
            layout.sequence_bits};
}

namespace detail {

/// Takes the first word off a text, and the white space around it. Empty at the text's end.
constexpr std::string_view take_word(std::string_view& text) noexcept {
    constexpr std::string_view spaces = " \t\n\v\f\r";
    const auto is_space = [&](char c) { return spaces.find(c) != spaces.npos; };
    const auto begin = std::find_if_not(text.begin(), text.end(), is_space);
    const auto end = std::find_if(begin, text.end(), is_space);
    text = {std::find_if_not(end, text.end(), is_space), text.end()};
    return {begin, end};
}

/// Reads an integer of at most 18 digits. Returns whether the text is one.
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

/// Sets `layout` to what a text stands for: a preset's name, or `FIELD=VALUE` for each field, and
/// `js` to declare it safe in JavaScript, in any order and with white space between. The epoch is a
/// time as parse_utc() reads it, or milliseconds since 1970-01-01T00:00:00Z. Without datacenter or
/// worker, these have no bits. On an error, `layout` stays as it was.
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

/// How many characters a layout's text has at most.
inline constexpr size_t max_layout_text_size =
    std::string_view{
        "epoch=2010-11-04T01:42:54.657Z timestamp=10 datacenter=10 worker=10 "
        "sequence=10 js"}
        .size();

/// Writes the text of a sound layout to `text`, without a terminating zero: the preset's name if it
/// is one, else every field in order. Returns the end of what it wrote.
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

// Every preset is sound.
static_assert(std::ranges::all_of(layout_presets, [](const LayoutPreset& preset) {
    SnowflakeLayout layout{};
    return !make_layout(values_of(preset.layout), preset.layout.js, layout) &&
           layout == preset.layout;
}));

}  // namespace snowdrift
