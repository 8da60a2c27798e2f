// Fuzz target: text forms of Snowflake layouts.
#include "fuzz/check.hpp"
#include "fuzz/layout_checks.hpp"
#include "fuzz/layout_texts.hpp"

using namespace snowdrift;
using namespace snowdrift::fuzz;

namespace {

void check_parse(const std::string& text) {
    const model::ParsedLayout expected = model::parse_layout(text);
    const Exact copy{text};
    SnowflakeLayout layout = presets::tsid;
    const LayoutError error = parse_layout(copy, layout);
    REQUIRE(fault_of(error) == expected.fault);
    REQUIRE(text.find(error.word) != text.npos);
    if (error) {
        REQUIRE(layout == presets::tsid);
        if (expected.fault == model::LayoutFault::bounds)
            REQUIRE(error.value < error.min || error.value > error.max);
        return;
    }
    check_same(layout, expected.layout);

    const std::string formatted =
        written(max_layout_text_size, [&](char* to) { return format_layout(layout, to); });
    REQUIRE(model::without_empty_sequence(formatted) ==
            model::without_empty_sequence(expected.layout.text()));
    SnowflakeLayout again{};
    REQUIRE(!parse_layout(formatted, again) && again == layout);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Input input{data, size};
    check_parse(std::string{input.rest()});
    check_parse(layout_text(input));

    const int64_t unit = input.between(0, INT64_MAX);
    const std::string text =
        written(max_unit_text_size, [&](char* to) { return format_unit(unit, to); });
    int64_t value = -1;
    if (text.size() <= 16) {
        REQUIRE(model::parse_layout_value("unit", text, value) && value == unit);
    } else {
        REQUIRE(text == (unit % 1000 == 0 ? std::to_string(unit / 1000) + "s"
                                          : std::to_string(unit) + "ms"));
    }
    return 0;
}
