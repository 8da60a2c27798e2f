// Fuzz target: TypeIDs and their prefixes.
#include "snowdrift/typeid.hpp"

#include "fuzz/check.hpp"

using namespace snowdrift;
using namespace snowdrift::fuzz;

namespace {

bool is_same(const TypeId::Error& error, const model::TypeId& expected) {
    using Reason = TypeId::Error::Reason;
    constexpr Reason reasons[] = {
        Reason::none,          Reason::empty_prefix, Reason::prefix_character,
        Reason::prefix_length, Reason::prefix_end,   Reason::suffix};
    return error.reason == reasons[static_cast<size_t>(expected.fault)] &&
           error.index == expected.index && fuzz::is_same(error.suffix, expected.suffix);
}

void check_parse(const std::string& text) {
    const model::TypeId expected = model::TypeId::parse(text);
    const Exact copy{text};
    TypeId id{"unchanged", {1, 2, 3}};
    const TypeId::Error error = TypeId::parse(copy, id);
    REQUIRE(is_same(error, expected));
    if (error) {
        REQUIRE(id.prefix == "unchanged" && (id.uuid == TypeId::Uuid{1, 2, 3}));
    } else {
        REQUIRE(id.prefix == expected.prefix);
        REQUIRE(model::bits_of_bytes(id.uuid) == expected.suffix.bits);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Input input{data, size};
    check_parse(std::string{input.rest()});

    const auto uuid = input.bytes<16>();
    std::string prefix;
    for (size_t length = input.below(80); length > 0; --length)
        prefix += "abcdefghijklmnopqrstuvwxyz__"[input.below(28)];
    prefix = input.mutated(prefix);
    const Exact copy{prefix};
    const model::TypeId expected = model::TypeId::check_prefix(prefix);
    const TypeId::Error error = TypeId::check_prefix(copy);
    REQUIRE(is_same(error, expected));

    const std::string text = model::TypeId::text(prefix, model::bits_of_bytes(uuid));
    if (!error) {
        const TypeId id{copy, uuid};
        REQUIRE(written(text.size(), [&](char* to) { return id.format(to); }) == text);
        REQUIRE(text.size() <= TypeId::max_text_size);
    }
    check_parse(text);
    check_parse(input.mutated(text));
    return 0;
}
