// Layouts, strings and errors, for the tests of layouts.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <string_view>

#include "snowdrift/snowflake_layout.hpp"

namespace snowdrift {

inline void PrintTo(const LayoutError& error, std::ostream* out) {
    *out << "reason " << int{static_cast<uint8_t>(error.reason)} << ", field "
         << layout_field_names[static_cast<size_t>(error.field)] << ", word \"" << error.word
         << "\", " << error.value << " in " << error.min << " .. " << error.max;
}

/// The layout of a text; fails the test if the text is invalid.
inline SnowflakeLayout parse(std::string_view text) {
    SnowflakeLayout layout{};
    EXPECT_EQ(parse_layout(text, layout), LayoutError{}) << text;
    return layout;
}

/// The error of an invalid text. It must not change the layout.
inline LayoutError error_of(std::string_view text) {
    SnowflakeLayout layout = presets::twitter;
    const LayoutError error = parse_layout(text, layout);
    EXPECT_EQ(layout, presets::twitter) << text;
    return error;
}

/// The error of invalid values. It must not change the layout.
inline LayoutError error_of(LayoutValues values, bool js = false) {
    SnowflakeLayout layout = presets::twitter;
    values.js = js;
    const LayoutError error = make_layout(values, layout);
    if (error) {
        EXPECT_EQ(layout, presets::twitter);
    }
    return error;
}

inline std::string format(const SnowflakeLayout& layout) {
    char text[max_layout_text_size];
    return {text, format_layout(layout, text)};
}

}  // namespace snowdrift
