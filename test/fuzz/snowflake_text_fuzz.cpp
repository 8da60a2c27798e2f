// Fuzz target: text forms of Snowflake IDs.
#include "snowdrift/snowflake_text.hpp"

#include "fuzz/check.hpp"

using namespace snowdrift;
using namespace snowdrift::fuzz;

namespace {

void check_parse(std::string_view text) {
    const model::Decoded expected = model::parse_snowflake_text(text);
    int64_t id = -1;
    const ParseError error = SnowflakeText::parse(Exact{text}, id);
    REQUIRE(is_same(error, expected));
    REQUIRE(id == (error ? -1 : static_cast<int64_t>(model::number_of(expected.bits))));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Input input{data, size};
    check_parse(input.rest());

    const int64_t id = input.between(0, INT64_MAX);
    const std::string text = model::snowflake_text(static_cast<uint64_t>(id));
    REQUIRE(written(SnowflakeText::size, [&](char* to) { return SnowflakeText::format(id, to); }) ==
            text);
    check_parse(text);
    check_parse(model::mapped(text, model::lower));
    check_parse(input.mutated(text));
    return 0;
}
