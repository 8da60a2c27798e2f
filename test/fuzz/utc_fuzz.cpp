// Fuzz target: times in ISO 8601.
#include "snowdrift/utc.hpp"

#include "fuzz/calendar.hpp"
#include "fuzz/check.hpp"

using namespace snowdrift;
using namespace snowdrift::fuzz;

namespace {

void check_parse(const std::string& text) {
    const auto expected = model::parse_utc(text);
    int64_t unix_ms = 42;
    REQUIRE(parse_utc(Exact{text}, unix_ms) == expected.has_value());
    REQUIRE(unix_ms == expected.value_or(42));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Input input{data, size};
    check_parse(std::string{input.rest()});

    // from the beginning of the year 0 to the end of the year 32767
    const int64_t unix_ms = input.between(-62'167'219'200'000, 971'890'963'199'999);
    const std::string text = model::utc_text(unix_ms);
    REQUIRE(written(max_utc_text_size, [&](char* to) { return format_utc(unix_ms, to); }) == text);
    check_parse(text);
    check_parse(input.mutated(text));

    std::string digits;
    const auto add = [&](int64_t max, size_t width, const char* after) {
        digits += model::padded(input.between(0, max), width) + after;
    };
    add(9999, 4, "-");
    add(13, 2, "-");
    add(32, 2, "T");
    add(25, 2, ":");
    add(61, 2, ":");
    add(61, 2, "");
    if (input.flag()) {
        digits += ".";
        add(999, 3, "");
    }
    check_parse(input.mutated(digits + "Z"));
    return 0;
}
