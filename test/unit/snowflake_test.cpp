// The Snowflake layouts, checked with golden IDs, and properties of every layout.
#include "snowdrift/snowflake.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "snowdrift/snowflake_presets.hpp"
#include "unit/vectors.hpp"

namespace snowdrift {
namespace {
using namespace std::chrono_literals;

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

TEST(Snowflake, SixtyFourBitLayoutsStayPositive) {
    for (const auto* name : {"discord", "mastodon", "mastic", "tsid"}) {
        const SnowflakeLayout& layout = presets.at(name);
        EXPECT_EQ(layout.max_id(), INT64_MAX) << name;
        EXPECT_EQ(layout.boundary(time_of(layout.max_unix_ms())) >> layout.timestamp_shift(),
                  static_cast<int64_t>(layout.max_timestamp()))
            << name;
        EXPECT_GT(layout.boundary(time_of(layout.max_unix_ms())), 0) << name;
    }
}

TEST(Snowflake, JavaScriptHoldsEverySiIdExactly) {
    EXPECT_EQ(presets::si.max_id(), 9007199254740991);
}

TEST(Snowflake, TimesBeforeTheEpochAreGreaterThanAllTimestamps) {
    for (const int64_t time : {presets::sonyflake.epoch_unix_ms - 1, int64_t{0}, INT64_MIN})
        EXPECT_GT(presets::sonyflake.units_at(time), presets::sonyflake.max_timestamp()) << time;
    static_assert(presets::mastodon.units_at(INT64_MIN) > presets::mastodon.max_timestamp());
}

TEST(Snowflake, NegativeNumbersAreNotIds) {
    EXPECT_FALSE(presets::snowflake.contains_id(-1));
    EXPECT_FALSE(presets::snowflake.contains_id(INT64_MIN));
    EXPECT_TRUE(presets::snowflake.contains_id(0));
    EXPECT_FALSE(presets::si.contains_id(presets::si.max_id() + 1));
}

class EveryPreset : public testing::TestWithParam<std::pair<const std::string, SnowflakeLayout>> {
 protected:
    SnowflakeParts random_parts() {
        const SnowflakeLayout& layout = GetParam().second;
        return {time_of(layout.unix_ms_of(random_() % (layout.max_timestamp() + 1))),
                static_cast<uint32_t>(random_()) & layout.max_datacenter(),
                static_cast<uint32_t>(random_()) & layout.max_worker(),
                static_cast<uint32_t>(random_()) & layout.max_sequence()};
    }

 private:
    std::mt19937_64 random_{20210101};
};

TEST_P(EveryPreset, SplitIsTheInverseOfCompose) {
    const SnowflakeLayout& layout = GetParam().second;
    for (int i = 0; i < 100'000; ++i) {
        const SnowflakeParts parts = random_parts();
        const int64_t id = layout.compose(parts);
        ASSERT_TRUE(layout.contains_id(id));
        ASSERT_EQ(layout.split(id), parts);
    }
}

TEST_P(EveryPreset, AnIdIsNotBelowABoundaryExactlyWhenItsTimeIsNotBeforeIt) {
    const SnowflakeLayout& layout = GetParam().second;
    for (int i = 0; i < 100'000; ++i) {
        const SnowflakeParts parts = random_parts();
        const int64_t id = layout.compose(parts);
        for (const Time time : {parts.time - 1ms, parts.time, parts.time + 1ms, random_parts().time,
                                time_of(layout.epoch_unix_ms), time_of(layout.max_unix_ms())}) {
            if (!layout.contains_time(time)) continue;
            ASSERT_EQ(id >= layout.boundary(time), parts.time >= time);
        }
    }
}

TEST_P(EveryPreset, TheLargestPartsMakeTheLargestId) {
    const SnowflakeLayout& layout = GetParam().second;
    EXPECT_EQ(layout.compose({time_of(layout.max_unix_ms()), layout.max_datacenter(),
                              layout.max_worker(), layout.max_sequence()}),
              layout.max_id());
    EXPECT_EQ(layout.compose({time_of(layout.epoch_unix_ms), 0, 0, 0}), 0);
}

INSTANTIATE_TEST_SUITE_P(Snowflake, EveryPreset, testing::ValuesIn(presets),
                         [](const auto& preset) { return preset.param.first; });

}  // namespace
}  // namespace snowdrift
