// Text forms of layouts, most of them valid or nearly so, from the input of a fuzz target.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fuzz/calendar.hpp"
#include "fuzz/input.hpp"
#include "fuzz/layout_model.hpp"

namespace snowdrift::fuzz {

/// The largest number of milliseconds in a text of a layout.
inline constexpr int64_t max_unit = 999'999'999'999'999;

/// A layout whose values are within their own bounds, or nearly so. The sum of its widths can be
/// too large.
inline model::Layout any_layout(Input& input) {
    model::Layout layout;
    layout.epoch = input.between(-1, *model::parse_utc("9999-12-31T23:59:59.999Z") + 1);
    if (input.flag()) layout.unit = input.between(0, 60'001);
    if (input.below(16) == 0) layout.unit = input.between(-max_unit, max_unit);
    layout.js = input.below(4) == 0;
    const auto width = [&](int64_t max) { return input.between(0, max); };
    layout.fields = {{"timestamp", width(49)}};
    std::vector<std::pair<std::string, int64_t>> others{
        {"datacenter", width(12)}, {"worker", width(20)}, {"sequence", width(32)}};
    for (; !others.empty();) {
        const auto next = others.begin() + static_cast<int64_t>(input.below(others.size()));
        layout.fields.push_back(*next);
        others.erase(next);
    }
    return layout;
}

/// A text of a layout: its fields in their order, and the other words anywhere.
inline std::string layout_text(Input& input) {
    if (input.below(16) == 0) return input.mutated(input.pick(model::presets()).first);
    const model::Layout layout = any_layout(input);
    std::vector<std::string> words;
    for (const auto& [name, width] : layout.fields)
        words.push_back(name + "=" + std::to_string(width));
    const auto add = [&](const std::string& word) {
        words.insert(words.begin() + static_cast<int64_t>(input.below(words.size() + 1)), word);
    };
    add("epoch=" + (input.flag() ? model::utc_text(layout.epoch) : std::to_string(layout.epoch)));
    if (layout.unit != 1 || input.below(8) == 0) {
        const bool is_s = layout.unit % 1000 == 0;
        add("unit=" +
            (is_s ? std::to_string(layout.unit / 1000) + "s" : std::to_string(layout.unit) + "ms"));
    }
    if (layout.js) add("js");
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
    return input.mutated(text);
}

}  // namespace snowdrift::fuzz
