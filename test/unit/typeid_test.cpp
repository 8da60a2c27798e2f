// TypeIDs, checked with the vectors of their specification.
#include "snowdrift/typeid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "unit/vectors.hpp"

namespace snowdrift {
namespace {

using Reason = TypeId::Error::Reason;

struct Parsed {
    TypeId id;
    TypeId::Error error;
};

constexpr Parsed parse(std::string_view text) {
    Parsed parsed;
    parsed.error = TypeId::parse(text, parsed.id);
    return parsed;
}

std::string text_of(const TypeId& id) {
    std::string text(TypeId::max_text_size, '!');
    text.resize(static_cast<size_t>(id.format(text.data()) - text.data()));
    return text;
}

static_assert(parse("user_01h455vb4pex5vsknk084sn02q").id.prefix == "user");
static_assert(parse("user_01h455vb4pex5vsknk084sn02q").id.uuid[0] == 0x01);
static_assert(parse("user_81h455vb4pex5vsknk084sn02q").error);

TEST(TypeId, EveryValidVectorIsReadAndWritten) {
    const auto rows = test::read_vectors("typeid_valid.tsv", 4);
    EXPECT_EQ(rows.size(), 9U);
    for (const auto& row : rows) {
        const Parsed parsed = parse(row[1]);
        EXPECT_FALSE(parsed.error) << row[0];
        EXPECT_EQ(parsed.id.prefix, row[2]) << row[0];
        EXPECT_EQ(parsed.id.uuid, test::uuid_from_text(row[3])) << row[0];
        EXPECT_EQ(text_of({row[2], test::uuid_from_text(row[3])}), row[1]) << row[0];
    }
}

TEST(TypeId, EveryInvalidVectorIsAnErrorAndLeavesTheIdUnchanged) {
    const auto rows = test::read_vectors("typeid_invalid.tsv", 3);
    EXPECT_EQ(rows.size(), 21U);
    for (const auto& row : rows) {
        EXPECT_TRUE(parse(row[1]).error) << row[0];
        EXPECT_EQ(parse(row[1]).id.prefix, "") << row[0];
    }
}

TEST(TypeId, ErrorsHaveAReasonAndAPosition) {
    const auto check = [](std::string_view text, TypeId::Error error) {
        EXPECT_EQ(parse(text).error, error) << text;
    };
    const auto suffix = [](size_t index, ParseError error) {
        return TypeId::Error{Reason::suffix, index, error};
    };
    check("", suffix(0, {ParseError::Reason::length}));
    check("user", suffix(0, {ParseError::Reason::length}));
    check("_", {Reason::empty_prefix});
    check("_01h455vb4pex5vsknk084sn02q", {Reason::empty_prefix});
    check("usEr_01h455vb4pex5vsknk084sn02q", {Reason::prefix_character, 2});
    check("us3r_01h455vb4pex5vsknk084sn02q", {Reason::prefix_character, 2});
    check("user__01h455vb4pex5vsknk084sn02q", {Reason::prefix_end});
    check("_user_01h455vb4pex5vsknk084sn02q", {Reason::prefix_end});
    check("user_", suffix(5, {ParseError::Reason::length}));
    check("user_01h455vb4pex5vsknk084sn02", suffix(5, {ParseError::Reason::length}));
    check("user_01h455vb4pex5vsknk084sn02qq", suffix(5, {ParseError::Reason::length}));
    check("user_81h455vb4pex5vsknk084sn02q", suffix(5, {ParseError::Reason::overflow, 0}));
    check("user_01h455vb4pEx5vsknk084sn02q", suffix(5, {ParseError::Reason::character, 10}));
    check("user_01h455vb4pex5vsknk084sn02u", suffix(5, {ParseError::Reason::character, 25}));
    check(std::string(64, 'a') + "_01h455vb4pex5vsknk084sn02q", {Reason::prefix_length});
    check(std::string(63, 'a') + "_01h455vb4pex5vsknk084sn02q", {});
}

TEST(TypeId, PrefixesHaveLowerCaseLettersAndInnerUnderscores) {
    for (const auto* const prefix : {"", "a", "user", "my_type", "my__type", "a_b_c"})
        EXPECT_FALSE(TypeId::check_prefix(prefix)) << prefix;
    for (const auto* const prefix : {"_", "__", "_a", "a_"})
        EXPECT_EQ(TypeId::check_prefix(prefix), (TypeId::Error{Reason::prefix_end})) << prefix;
    for (int byte = 0; byte < 256; ++byte) {
        const std::string prefix{'a', static_cast<char>(byte), 'b'};
        const bool is_valid = (byte >= 'a' && byte <= 'z') || byte == '_';
        EXPECT_EQ(TypeId::check_prefix(prefix),
                  is_valid ? TypeId::Error{} : (TypeId::Error{Reason::prefix_character, 1}))
            << byte;
    }
}

TEST(TypeId, TheLongestTextHas90Characters) {
    const std::string prefix(63, 'z');
    TypeId::Uuid uuid;
    uuid.fill(0xff);
    const std::string text = text_of({prefix, uuid});
    EXPECT_EQ(text, prefix + "_7zzzzzzzzzzzzzzzzzzzzzzzzz");
    EXPECT_EQ(text.size(), 90U);
    EXPECT_EQ(parse(text).id.uuid, uuid);
}

}  // namespace
}  // namespace snowdrift
