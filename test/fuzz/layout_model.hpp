// A slow model of Snowflake layouts and IDs, from docs/layouts.md: a layout is the list of its
// fields.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/calendar.hpp"
#include "fuzz/model.hpp"

namespace snowdrift::model {

/// A layout whose values may be out of their bounds.
struct Layout {
    int64_t epoch = 0;  ///< in Unix milliseconds
    int64_t unit = 1;   ///< in milliseconds
    bool js = false;
    /// The fields and their widths, from the highest bit down. The first one is the timestamp.
    std::vector<std::pair<std::string, int64_t>> fields{};

    int64_t width(const std::string& name) const {
        for (const auto& [each, width] : fields)
            if (each == name) return width;
        return 0;
    }

    int64_t total() const {
        int64_t sum = 0;
        for (const auto& each : fields) sum += each.second;
        return sum;
    }

    /// Whether all values are within the bounds that docs/layouts.md states.
    bool is_valid() const {
        for (const auto& [name, width] : fields)
            if (width < (name == "timestamp" ? 1 : 0) || width > 64) return false;
        const Wide last = last_of_all();
        return epoch >= 0 && epoch <= *parse_utc("9999-12-31T23:59:59.999Z") && unit >= 1 &&
               unit <= 60'000 && (last - epoch + unit) <= (Wide{1} << 48) &&
               width("datacenter") + width("worker") <= 31 && width("sequence") <= 31 &&
               total() <= (js ? 53 : 64) && (!js || last >= *parse_utc("2038-01-19T03:14:07Z"));
    }

    /// The time of an ID whose timestamp has all bits set, in Unix milliseconds.
    Wide last_of_all() const {
        Wide count = 1;
        for (int64_t i = 0; i < std::min<int64_t>(width("timestamp"), 64); ++i) count *= 2;
        return epoch + (count - 1) * unit;
    }

    /// The digits of an ID.
    static Bits bits(int64_t id) { return bits_of(static_cast<uint64_t>(id), 64); }

    /// The digits of the largest ID: the sign bit stays 0.
    Bits max_bits() const {
        const auto used = static_cast<size_t>(std::min<int64_t>(total(), 63));
        return Bits(64 - used, '0') + Bits(used, '1');
    }

    bool has_id(int64_t id) const { return bits(id) <= max_bits(); }

    /// The fields of an ID that the layout has. The timestamp is in units since the epoch.
    std::map<std::string, uint64_t> split(int64_t id) const {
        std::map<std::string, uint64_t> parts;
        auto first = static_cast<size_t>(64 - total());
        for (const auto& [name, width] : fields) {
            parts[name] = field(bits(id), first, static_cast<size_t>(width));
            first += static_cast<size_t>(width);
        }
        return parts;
    }

    int64_t unix_ms(int64_t id) const {
        return epoch + unit * static_cast<int64_t>(split(id)["timestamp"]);
    }

    /// The ID with these fields. The timestamp is in units since the epoch.
    int64_t compose(const std::map<std::string, uint64_t>& parts) const {
        Bits all(static_cast<size_t>(64 - total()), '0');
        for (const auto& [name, width] : fields)
            all += bits_of(parts.at(name), static_cast<size_t>(width));
        return static_cast<int64_t>(number_of(all));
    }

    /// The number of timestamps that an ID can have.
    uint64_t unit_count() const {
        return split(static_cast<int64_t>(number_of(max_bits())))["timestamp"] + 1;
    }

    /// The ID with the timestamp `units` and all other bits set to `rest`.
    int64_t of(uint64_t units, char rest) const {
        const auto below = static_cast<size_t>(total() - width("timestamp"));
        return static_cast<int64_t>(number_of(bits_of(units, 64 - below) + Bits(below, rest)));
    }

    /// The text output, which docs/layouts.md describes; without a sequence that has no bits,
    /// whose position is not specified.
    std::string text() const;
};

/// The presets and their fields, from docs/layouts.md.
inline const std::vector<std::pair<std::string, std::string>>& presets() {
    static const std::vector<std::pair<std::string, std::string>> all{
        {"snowflake", "epoch=2021-01-01T00:00:00Z timestamp=41 datacenter=5 worker=5 sequence=12"},
        {"twitter",
         "epoch=2010-11-04T01:42:54.657Z timestamp=41 datacenter=5 worker=5 sequence=12"},
        {"discord", "epoch=2015-01-01T00:00:00Z timestamp=42 datacenter=5 worker=5 sequence=12"},
        {"instagram", "epoch=2011-08-24T21:07:01.721Z timestamp=41 worker=13 sequence=10"},
        {"mastodon", "epoch=1970-01-01T00:00:00Z timestamp=48 sequence=16"},
        {"pgedge", "epoch=2023-01-01T00:00:00Z timestamp=41 worker=10 sequence=12"},
        {"mastic", "epoch=2026-01-01T00:00:00Z timestamp=48 sequence=16"},
        {"si", "epoch=2021-01-01T00:00:00Z timestamp=40 worker=5 sequence=8 js"},
        {"sonyflake", "epoch=2014-09-01T00:00:00Z unit=10ms timestamp=39 sequence=8 worker=16"},
        {"sonyflake_v2", "epoch=2025-01-01T00:00:00Z unit=10ms timestamp=39 sequence=8 worker=16"},
        {"hazelcast", "epoch=2018-01-01T00:00:00Z timestamp=41 sequence=6 worker=16"},
        {"tsid", "epoch=2020-01-01T00:00:00Z timestamp=42 worker=10 sequence=12"},
        {"clickhouse", "epoch=1970-01-01T00:00:00Z timestamp=41 worker=10 sequence=12"},
        {"baidu", "epoch=2016-05-19T16:00:00Z unit=1s timestamp=28 worker=22 sequence=13"},
        {"leaf", "epoch=2010-11-04T01:42:54.657Z timestamp=41 worker=10 sequence=12"},
        {"cosid", "epoch=2019-12-24T16:00:00Z timestamp=41 worker=10 sequence=12"},
    };
    return all;
}

enum class LayoutFault : uint8_t { none, syntax, bounds };

struct ParsedLayout {
    LayoutFault fault = LayoutFault::none;
    Layout layout{};
};

/// Parses an integer of at most `digits` digits. Returns false if the text is not one.
inline bool parse_integer(std::string text, size_t digits, int64_t& number) {
    const bool is_negative = !text.empty() && text[0] == '-';
    if (is_negative) text.erase(0, 1);
    if (text.empty() || text.size() > digits) return false;
    for (const char c : text)
        if (c < '0' || c > '9') return false;
    number = std::stoll(text) * (is_negative ? -1 : 1);
    return true;
}

inline bool parse_layout_value(const std::string& name, const std::string& text, int64_t& value) {
    if (name == "unit") {
        if (text.empty() || text.back() != 's') return false;
        const bool is_ms = text.size() > 1 && text[text.size() - 2] == 'm';
        if (!parse_integer(text.substr(0, text.size() - (is_ms ? 2 : 1)), 15, value)) return false;
        if (!is_ms) value *= 1000;
        return true;
    }
    if (name == "epoch") {
        if (const auto time = parse_utc(text)) {
            value = *time;
            return true;
        }
    }
    return parse_integer(text, 18, value);
}

inline ParsedLayout parse_layout(const std::string& text) {
    const ParsedLayout syntax{LayoutFault::syntax};
    std::vector<std::string> words(1);
    for (const char c : text) {
        if (std::string_view{" \t\n\v\f\r"}.find(c) == std::string_view::npos)
            words.back() += c;
        else if (!words.back().empty())
            words.emplace_back();
    }
    if (words.back().empty()) words.pop_back();
    if (words.size() == 1)
        for (const auto& [name, fields] : presets())
            if (words[0] == name) return parse_layout(fields);

    Layout layout;
    std::map<std::string, int64_t> values;
    for (const std::string& word : words) {
        if (word == "js") {
            if (layout.js) return syntax;
            layout.js = true;
            continue;
        }
        const size_t equals = word.find('=');
        if (equals == word.npos) return syntax;
        const std::string name = word.substr(0, equals);
        const std::array names{"epoch", "unit", "timestamp", "datacenter", "worker", "sequence"};
        if (std::find(names.begin(), names.end(), name) == names.end()) return syntax;
        int64_t value = 0;
        if (values.contains(name) || !parse_layout_value(name, word.substr(equals + 1), value))
            return syntax;
        values[name] = value;
        if (name != "epoch" && name != "unit") layout.fields.emplace_back(name, value);
    }
    if (!values.contains("epoch") || !values.contains("timestamp") ||
        !values.contains("sequence") || layout.fields[0].first != "timestamp")
        return syntax;
    layout.epoch = values["epoch"];
    if (values.contains("unit")) layout.unit = values["unit"];
    return {layout.is_valid() ? LayoutFault::none : LayoutFault::bounds, layout};
}

/// The fields of a layout without those that have no bits: layouts are equal if these are equal.
inline Layout without_empty(Layout layout) {
    std::erase_if(layout.fields, [](const auto& each) { return each.second == 0; });
    return layout;
}

inline bool are_equal(const Layout& a, const Layout& b) {
    return a.epoch == b.epoch && a.unit == b.unit && a.js == b.js &&
           without_empty(a).fields == without_empty(b).fields;
}

inline std::string Layout::text() const {
    for (const auto& [name, fields] : presets())
        if (are_equal(*this, parse_layout(fields).layout)) return name;
    std::string text = "epoch=" + utc_text(epoch);
    if (unit != 1)
        text += " unit=" + (unit % 1000 == 0 ? std::to_string(unit / 1000) + "s"
                                             : std::to_string(unit) + "ms");
    for (const auto& [name, width] : without_empty(*this).fields)
        text += " " + name + "=" + std::to_string(width);
    return text + (js ? " js" : "");
}

/// A text of a layout without " sequence=0".
inline std::string without_empty_sequence(std::string text) {
    if (const size_t at = text.find(" sequence=0"); at != text.npos)
        text.erase(at, std::string_view{" sequence=0"}.size());
    return text;
}

}  // namespace snowdrift::model
