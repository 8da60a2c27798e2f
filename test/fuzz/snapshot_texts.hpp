// Snapshots of generators as JSON, most of them valid or nearly so, from the input of a fuzz
// target.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fuzz/calendar.hpp"
#include "fuzz/input.hpp"
#include "fuzz/layout_model.hpp"
#include "fuzz/layout_texts.hpp"

namespace snowdrift::fuzz {

/// The fields of a JSON object: names, and values as JSON.
using Fields = std::vector<std::pair<std::string, std::string>>;

/// The text without the characters that a JSON string cannot contain.
inline std::string without_controls(std::string text) {
    std::erase_if(text, [](char c) { return static_cast<uint8_t>(c) < ' '; });
    return text;
}

/// A text without control characters as JSON.
inline std::string json_string(const std::string& text) {
    std::string json = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') json += '\\';
        json += c;
    }
    return json + '"';
}

inline std::string json_of(const Fields& fields) {
    std::string json;
    for (const auto& [name, value] : fields)
        json += (json.empty() ? "{" : ",") + json_string(name) + ":" + value;
    return json.empty() ? "{}" : json + "}";
}

/// JSON numbers, most of them near the bound of a field of a snapshot.
inline constexpr const char* json_numbers[] = {
    "-1",
    "0",
    "-0",
    "1",
    "2",
    "3",
    "4",
    "1.0",
    "1.5",
    "1e3",
    "1e400",
    "1e-400",
    "31",
    "32",
    "255",
    "256",
    "4095",
    "4096",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
};

/// A JSON value, valid or invalid, for a field of a snapshot.
inline std::string any_value(Input& input) {
    constexpr const char* values[] = {
        "null",
        "true",
        "[]",
        "{}",
        "[1, {\"kind\": 1}]",
        "\"\"",
        "\"sno\"",
        "\"snowflake\"",
        "\"ulid\"",
        "\"1\"",
        "\"infinity\"",
        "\"now\"",
        "\"2026-01-01\"",
        "\"2010-01-01T00:00:00Z\"",
        "\"2010-01-01T00:00:00.004Z\"",
        "\"2079-09-07T15:47:35.548Z\"",
        "\"2079-09-07T15:47:35.549Z\"",
        "\"0000-01-01T00:00:00Z\"",
        "\"9999-12-31T23:59:59.999Z\"",
        "\"1969-12-31T23:59:59.999Z\"",
    };
    switch (input.below(4)) {
        case 0:
            return json_string(without_controls(layout_text(input)));
        case 1:
            return json_string(without_controls(input.mutated(
                model::utc_text(input.between(-62'167'219'200'000, 253'402'300'799'999)))));
        case 2:
            return input.pick(json_numbers);
        default:
            return input.pick(values);
    }
}

/// A time or a number near the one that a field has, or another number.
inline std::string near(const std::string& value, Input& input) {
    constexpr int64_t offsets[] = {1, 3, 4, 5, 50, 20'000, 60'000, 3'600'000, 86'400'000};
    const int64_t distance = input.pick(offsets);
    const int64_t offset = input.flag() ? distance : -distance;
    if (const auto time = model::parse_utc(value.substr(0, value.size() - 1).erase(0, 1)))
        return json_string(model::utc_text(*time + offset));
    int64_t number = 0;
    if (!model::parse_integer(value, 18, number)) return value;
    return input.flag() ? input.pick(json_numbers) : std::to_string(number + offset);
}

/// `fields` after up to three changes.
inline Fields changed(Fields fields, Input& input) {
    for (size_t changes = input.below(4); changes > 0 && !fields.empty(); --changes) {
        auto& [name, value] = fields[input.below(fields.size())];
        switch (input.below(8)) {
            case 0:
                fields.erase(fields.begin() + static_cast<int64_t>(input.below(fields.size())));
                break;
            case 1:
                name = without_controls(input.mutated(name));
                break;
            case 2:
                value = input.pick(fields).second;
                break;
            case 3:
                fields.push_back(input.pick(fields));
                fields.back().second = any_value(input);
                break;
            case 4:
                value = any_value(input);
                break;
            default:
                value = near(value, input);
        }
    }
    return fields;
}

}  // namespace snowdrift::fuzz
