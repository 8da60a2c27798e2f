// The Snowflake layouts, checked with golden IDs. snowflake_layout_properties_test.cpp has the
// properties of every layout.
#include "snowdrift/snowflake.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "snowdrift/snowflake_presets.hpp"
#include "unit/vectors.hpp"

namespace snowdrift {
namespace {

constexpr int64_t new_year_2022 = 1640995200000;

const std::map<std::string, SnowflakeLayout> presets = [] {
    std::map<std::string, SnowflakeLayout> all;
    for (const LayoutPreset& preset : layout_presets) all.emplace(preset.name, preset.layout);
    return all;
}();

static_assert(presets::snowflake.compose({time_of(new_year_2022), 2, 3, 0}) == 132271570944274432);
static_assert(presets::snowflake.split(132271570944274432) ==
              SnowflakeParts{time_of(new_year_2022), 2, 3, 0});

TEST(Snowflake, EveryGoldenIdSplitsIntoItsPartsAndComposesFromThem) {
    std::map<std::string, size_t> rows;
    for (const auto& row : test::read_vectors("snowflake_ids.tsv", 6)) {
        const SnowflakeLayout& layout = presets.at(row[0]);
        const int64_t id = std::stoll(row[1]);
        const SnowflakeParts parts{
            time_of(std::stoll(row[2])), static_cast<uint32_t>(std::stoul(row[3])),
            static_cast<uint32_t>(std::stoul(row[4])), static_cast<uint32_t>(std::stoul(row[5]))};
        EXPECT_EQ(layout.split(id), parts) << row[0] << " " << id;
        EXPECT_EQ(layout.compose(parts), id) << row[0] << " " << id;
        ++rows[row[0]];
    }
    EXPECT_EQ(rows.size(), presets.size()) << "a preset has no golden ID";
    EXPECT_GE(rows["twitter"], 10U);
}

TEST(Snowflake, TheClassicLayoutEndsIn2090) {
    EXPECT_EQ(presets::snowflake.max_id(), INT64_MAX);
    EXPECT_EQ(presets::snowflake.max_unix_ms(), 3808482455551);  // 2090-09-07T15:47:35.551Z
    EXPECT_FALSE(presets::snowflake.contains_time(time_of(1609459199999)));
    EXPECT_TRUE(presets::snowflake.contains_time(time_of(1609459200000)));
    EXPECT_TRUE(presets::snowflake.contains_time(time_of(3808482455551)));
    EXPECT_FALSE(presets::snowflake.contains_time(time_of(3808482455552)));
}

TEST(Snowflake, JavaScriptHoldsEverySiIdExactly) {
    EXPECT_EQ(presets::si.max_id(), 9007199254740991);
}

TEST(Snowflake, TimesBeforeTheEpochAreGreaterThanAllTimestamps) {
    for (const int64_t time : {presets::sonyflake.epoch_unix_ms - 1, int64_t{0}, INT64_MIN})
        EXPECT_GT(presets::sonyflake.units_at(time), presets::sonyflake.max_timestamp()) << time;
    static_assert(presets::mastodon.units_at(INT64_MIN) > presets::mastodon.max_timestamp());
}

}  // namespace
}  // namespace snowdrift
