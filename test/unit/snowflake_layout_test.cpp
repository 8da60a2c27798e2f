// The text form of layouts, and the bounds of their values.
#include <gtest/gtest.h>

#include <string>

#include "unit/snowflake_layout_helpers.hpp"

namespace snowdrift {
namespace {

using Reason = LayoutError::Reason;
using Field = LayoutField;

constexpr int64_t new_year_2024 = 1704067200000;
constexpr int64_t base_clock = 1047972019225;  // 2003-03-18T07:20:19.225Z

/// Epoch, widths and declaration of every preset, as its owner publishes them.
TEST(SnowflakeLayoutText, PresetsHaveTheLayoutsOfTheirServices) {
    struct Row {
        const char* name;
        LayoutValues values;
        bool js;
    };
    const auto sequence_first = FieldOrder::datacenter_sequence_worker;
    const Row rows[] = {
        {"snowflake", {1609459200000, 41, 5, 5, 12}, false},
        {"twitter", {1288834974657, 41, 5, 5, 12}, false},
        {"discord", {1420070400000, 42, 5, 5, 12}, false},
        {"mastodon", {0, 48, 0, 0, 16}, false},
        {"instagram", {1314220021721, 41, 0, 13, 10}, false},
        {"pgedge", {1672531200000, 41, 0, 10, 12}, false},
        {"mastic", {1767225600000, 48, 0, 0, 16}, false},
        {"si", {1609459200000, 40, 0, 5, 8}, true},
        {"sonyflake", {1409529600000, 39, 0, 16, 8, 10, sequence_first}, false},
        {"sonyflake_v2", {1735689600000, 39, 0, 16, 8, 10, sequence_first}, false},
        {"hazelcast", {1514764800000, 41, 0, 16, 6, 1, sequence_first}, false},
        {"tsid", {1577836800000, 42, 0, 10, 12}, false},
        {"clickhouse", {0, 41, 0, 10, 12}, false},
        {"baidu", {1463673600000, 28, 0, 22, 13, 1000}, false},
        {"leaf", {1288834974657, 41, 0, 10, 12}, false},
        {"cosid", {1577203200000, 41, 0, 10, 12}, false},
    };
    EXPECT_EQ(std::size(rows), std::size(layout_presets));
    for (const Row& row : rows) {
        SnowflakeLayout layout{};
        LayoutValues values = row.values;
        values.js = row.js;
        ASSERT_FALSE(make_layout(values, layout));
        EXPECT_EQ(parse(row.name), layout) << row.name;
        EXPECT_EQ(format(layout), row.name);
        EXPECT_EQ(values_of(layout), values);
    }
}

TEST(SnowflakeLayoutText, IsOfFieldsInOrderWhereThereIsNoName) {
    EXPECT_EQ(format({new_year_2024, 41, 5, 5, 12}),
              "epoch=2024-01-01T00:00:00Z timestamp=41 datacenter=5 worker=5 sequence=12");
    EXPECT_EQ(format({base_clock, 40, 0, 0, 13, true}),
              "epoch=2003-03-18T07:20:19.225Z timestamp=40 sequence=13 js");
    EXPECT_EQ(format({1609459200000, 40, 0, 5, 8}),
              "epoch=2021-01-01T00:00:00Z timestamp=40 worker=5 sequence=8");
    EXPECT_EQ(format({0, 48, 0, 0, 0}), "epoch=1970-01-01T00:00:00Z timestamp=48 sequence=0");
    EXPECT_EQ(format({0, 30, 5, 6, 7, false, FieldOrder::sequence_worker_datacenter, 1500}),
              "epoch=1970-01-01T00:00:00Z unit=1500ms timestamp=30 sequence=7 worker=6 "
              "datacenter=5");
}

TEST(SnowflakeLayoutText, NamesTheFieldsInTheOrderOfTheirBits) {
    const std::pair<const char*, FieldOrder> rows[] = {
        {"datacenter=3 worker=2 sequence=8", FieldOrder::datacenter_worker_sequence},
        {"datacenter=3 sequence=8 worker=2", FieldOrder::datacenter_sequence_worker},
        {"worker=2 datacenter=3 sequence=8", FieldOrder::worker_datacenter_sequence},
        {"worker=2 sequence=8 datacenter=3", FieldOrder::worker_sequence_datacenter},
        {"sequence=8 datacenter=3 worker=2", FieldOrder::sequence_datacenter_worker},
        {"sequence=8 worker=2 datacenter=3", FieldOrder::sequence_worker_datacenter},
    };
    for (const auto& [fields, order] : rows) {
        const std::string text =
            std::string{"epoch=2024-01-01T00:00:00Z unit=20ms timestamp=30 "} + fields;
        const SnowflakeLayout layout{new_year_2024, 30, 3, 2, 8, false, order, 20};
        EXPECT_EQ(parse(text), layout) << text;
        EXPECT_EQ(format(layout), text);
    }
}

TEST(SnowflakeLayoutText, TakesEpochUnitAndJsAnywhereWithAnySpace) {
    const SnowflakeLayout layout{new_year_2024 + 7, 40, 3, 2, 8, true};
    for (const auto* text :
         {"epoch=2024-01-01T00:00:00.007Z timestamp=40 datacenter=3 worker=2 sequence=8 js",
          "js timestamp=40 unit=1ms datacenter=3 worker=2 sequence=8 "
          "epoch=2024-01-01T00:00:00.007Z",
          "\t timestamp=040 epoch=1704067200007\n\vjs\f\rdatacenter=3  worker=2 sequence=8 "})
        EXPECT_EQ(parse(text), layout) << text;
    EXPECT_EQ(parse("  mastic\n"), presets::mastic);
    EXPECT_EQ(parse("epoch=1288834974657 timestamp=41 datacenter=5 worker=5 sequence=12"),
              presets::twitter);
    EXPECT_EQ(parse("epoch=2014-09-01T00:00:00Z unit=10ms timestamp=39 sequence=8 worker=16"),
              presets::sonyflake);
    EXPECT_EQ(parse("unit=1000ms epoch=1463673600000 timestamp=28 worker=22 sequence=13"),
              presets::baidu);
}

TEST(SnowflakeLayoutText, IgnoresTheOrderOfFieldsWithoutBits) {
    for (const auto* text : {"epoch=0 timestamp=41 worker=10 sequence=12",
                             "epoch=0 timestamp=41 datacenter=0 worker=10 sequence=12",
                             "epoch=0 timestamp=41 worker=10 datacenter=0 sequence=12",
                             "epoch=0 timestamp=41 worker=10 sequence=12 datacenter=0"})
        EXPECT_EQ(parse(text), presets::clickhouse) << text;
    EXPECT_EQ(parse("epoch=0 timestamp=40 sequence=0 worker=5 datacenter=3"),
              parse("epoch=0 timestamp=40 worker=5 datacenter=3 sequence=0"));
    EXPECT_NE(parse("epoch=0 timestamp=40 sequence=1 worker=5 datacenter=3"),
              parse("epoch=0 timestamp=40 worker=5 datacenter=3 sequence=1"));
    EXPECT_EQ(parse("epoch=0 timestamp=40 sequence=0"),
              parse("epoch=0 timestamp=40 sequence=0 worker=0 datacenter=0"));
}

TEST(SnowflakeLayoutText, NamesTheFieldThatPrecedesTheTimestamp) {
    EXPECT_EQ(error_of("epoch=0 sequence=12 timestamp=41"),
              (LayoutError{Reason::order, Field::sequence, "sequence=12"}));
    EXPECT_EQ(error_of("worker=10 epoch=0 sequence=12 timestamp=41"),
              (LayoutError{Reason::order, Field::worker, "worker=10"}));
}

TEST(SnowflakeLayout, IsNotValidWithAnOrderThatDoesNotExist) {
    LayoutValues values = values_of(presets::sonyflake);
    values.order = static_cast<FieldOrder>(fields_in_order.size());
    SnowflakeLayout layout{};
    EXPECT_EQ(make_layout(values, layout), (LayoutError{Reason::order, Field::timestamp}));
    layout = presets::sonyflake;
    layout.order = values.order;
    EXPECT_FALSE(is_valid(layout));
}

TEST(SnowflakeLayoutText, WithoutDatacenterAndWorkerTheseHaveNoBits) {
    EXPECT_EQ(parse("epoch=0 timestamp=48 sequence=16"), presets::mastodon);
    EXPECT_EQ(parse("epoch=1672531200000 timestamp=41 worker=10 sequence=12"), presets::pgedge);
}

TEST(SnowflakeLayoutText, NamesTheWordThatDoesNotBelong) {
    const std::pair<const char*, const char*> rows[] = {
        {"twiter", "twiter"},
        {"Twitter", "Twitter"},
        {"twitter worker=5", "twitter"},
        {"twitter twitter", "twitter"},
        {"worker=5 si", "si"},
        {"epoch", "epoch"},
        {"epoch=0 =3", "=3"},
        {"epoch=0 , timestamp=41", ","},
        {"epoch=0 bits=3", "bits=3"},
        {"epoch=0 datacenter+worker=3", "datacenter+worker=3"},
        {"epoch=0 js=true", "js=true"},
        {"epoch=0 JS", "JS"},
    };
    for (const auto& [text, word] : rows)
        EXPECT_EQ(error_of(text), (LayoutError{Reason::word, Field::epoch, word})) << text;
}

TEST(SnowflakeLayoutText, NamesTheValueThatCannotBeRead) {
    for (const auto* value :
         {"", "-", "5.0", "+5", "0x5", "five", "5,", "--5", "1000000000000000000", "2024-01-01"}) {
        const std::string word = std::string{"worker="} + value;
        EXPECT_EQ(error_of("epoch=0 " + word), (LayoutError{Reason::value, Field::worker, word}));
    }
    for (const auto* value : {"", "now", "2024-01-01", "2023-02-29T00:00:00Z", "1e12",
                              "2024-01-01T00:00:00+00", "1000000000000000000"}) {
        const std::string word = std::string{"epoch="} + value;
        EXPECT_EQ(error_of(word), (LayoutError{Reason::value, Field::epoch, word}));
    }
    for (const auto* value : {"", "10", "ms", "s", "-s", "1.5s", "10 ms", "10us", "1m", "1S",
                              "1e3ms", "1000000000000000ms", "1000000000000000s"}) {
        const std::string word = std::string{"unit="} + value;
        EXPECT_EQ(error_of("epoch=0 " + word).reason, Reason::value) << word;
    }
    // Only the epoch can be a time.
    EXPECT_EQ(error_of("timestamp=2024-01-01T00:00:00Z").reason, Reason::value);
}

TEST(SnowflakeLayoutText, NamesTheFieldThatIsRepeatedOrMissing) {
    EXPECT_EQ(error_of("epoch=0 epoch=0"),
              (LayoutError{Reason::repeated, Field::epoch, "epoch=0"}));
    EXPECT_EQ(error_of("worker=1 sequence=3 worker=2"),
              (LayoutError{Reason::repeated, Field::epoch, "worker=2"}));
    EXPECT_EQ(error_of("js js"), (LayoutError{Reason::repeated, Field::epoch, "js"}));

    EXPECT_EQ(error_of(""), (LayoutError{Reason::missing, Field::epoch}));
    EXPECT_EQ(error_of(" \n"), (LayoutError{Reason::missing, Field::epoch}));
    EXPECT_EQ(error_of("js"), (LayoutError{Reason::missing, Field::epoch}));
    EXPECT_EQ(error_of("timestamp=41 sequence=12"), (LayoutError{Reason::missing, Field::epoch}));
    EXPECT_EQ(error_of("epoch=0 sequence=12"), (LayoutError{Reason::missing, Field::timestamp}));
    EXPECT_EQ(error_of("epoch=0 timestamp=41"), (LayoutError{Reason::missing, Field::sequence}));
}

/// A field, the least and the greatest value it may have, and the layout of a value.
struct Bounds {
    Field field;
    int64_t min;
    int64_t max;
    LayoutValues (*layout_of)(int64_t value);
};

TEST(SnowflakeLayoutBounds, AreExact) {
    const Bounds rows[] = {
        {Field::epoch, 0, 253402300799999,
         [](int64_t n) {
             return LayoutValues{n, 41, 5, 5, 12};
         }},
        {Field::unit, 1, 60'000, [](int64_t n) { return LayoutValues{0, 32, 0, 0, 12, n}; }},
        {Field::timestamp, 1, 48,
         [](int64_t n) {
             return LayoutValues{0, n, 0, 0, 12};
         }},
        {Field::timestamp, 1, 44, [](int64_t n) { return LayoutValues{0, n, 0, 0, 12, 10}; }},
        {Field::timestamp, 1, 32, [](int64_t n) { return LayoutValues{0, n, 0, 0, 12, 60'000}; }},
        {Field::datacenter, 0, 31,
         [](int64_t n) {
             return LayoutValues{0, 30, n, 0, 2};
         }},
        {Field::worker, 0, 31,
         [](int64_t n) {
             return LayoutValues{0, 30, 0, n, 2};
         }},
        {Field::sequence, 0, 31,
         [](int64_t n) {
             return LayoutValues{0, 30, 0, 0, n};
         }},
    };
    for (const Bounds& row : rows) {
        SCOPED_TRACE(layout_field_names[static_cast<size_t>(row.field)]);
        EXPECT_EQ(error_of(row.layout_of(row.min)), LayoutError{});
        EXPECT_EQ(error_of(row.layout_of(row.max)), LayoutError{});
        for (const int64_t wrong : {row.min - 1, row.max + 1, INT64_MIN, INT64_MAX})
            EXPECT_EQ(error_of(row.layout_of(wrong)),
                      (LayoutError{Reason::bounds, row.field, {}, wrong, row.min, row.max}));
    }
}

TEST(SnowflakeLayoutBounds, DatacenterAndWorkerHaveOneTogether) {
    EXPECT_EQ(error_of({0, 30, 15, 16, 2}), LayoutError{});
    EXPECT_EQ(error_of({0, 30, 16, 16, 2}),
              (LayoutError{Reason::bounds, Field::node, {}, 32, 0, 31}));
    EXPECT_EQ(error_of({0, 1, 31, 31, 2}),
              (LayoutError{Reason::bounds, Field::node, {}, 62, 0, 31}));
}

TEST(SnowflakeLayoutBounds, AllWidthsHaveOneTogether) {
    EXPECT_EQ(error_of({0, 42, 5, 5, 12}), LayoutError{});
    EXPECT_EQ(error_of({0, 42, 5, 5, 13}),
              (LayoutError{Reason::bounds, Field::total, {}, 65, 1, 64}));
    EXPECT_EQ(error_of({0, 48, 15, 16, 31}),
              (LayoutError{Reason::bounds, Field::total, {}, 110, 1, 64}));
    EXPECT_EQ(error_of({0, 1, 0, 0, 0}), LayoutError{});
}

TEST(SnowflakeLayoutBounds, DeclaredJsAllWidthsAre53) {
    EXPECT_EQ(error_of({0, 41, 0, 0, 12}, true), LayoutError{});
    EXPECT_EQ(error_of({0, 41, 0, 1, 12}, true),
              (LayoutError{Reason::unsafe, Field::total, {}, 54, 1, 53}));
    EXPECT_EQ(error_of({0, 41, 0, 1, 12}), LayoutError{});
}

TEST(SnowflakeLayoutBounds, DeclaredJsTheTimestampReaches2038) {
    for (int worker = 0; worker <= 13; ++worker) {
        EXPECT_EQ(error_of({base_clock, 40, 0, worker, 13 - worker}, true), LayoutError{});
        EXPECT_EQ(
            error_of({base_clock - 1, 40, 0, worker, 13 - worker}, true),
            (LayoutError{
                Reason::unsafe, Field::epoch, {}, base_clock - 1, base_clock, max_epoch_unix_ms}));
        EXPECT_EQ(error_of({base_clock - 1, 40, 0, worker, 13 - worker}), LayoutError{});
    }
    SnowflakeLayout first{};
    ASSERT_FALSE(make_layout({.epoch = base_clock,
                              .timestamp = 40,
                              .datacenter = 0,
                              .worker = 5,
                              .sequence = 8,
                              .js = true},
                             first));
    EXPECT_EQ(first.max_unix_ms(), js_end_unix_ms);
    // 39 bits are 17 years, and 41 bits reach 2039 from any epoch.
    EXPECT_TRUE(error_of({js_end_unix_ms - (int64_t{1} << 39), 39, 0, 5, 8}, true));
    EXPECT_FALSE(error_of({js_end_unix_ms - (int64_t{1} << 39) + 1, 39, 0, 5, 8}, true));
    EXPECT_FALSE(error_of({0, 41, 0, 5, 7}, true));
    // In seconds, 31 bits from 1970 reach it exactly.
    EXPECT_FALSE(error_of({0, 31, 0, 5, 7, 1000}, true));
    EXPECT_TRUE(error_of({0, 30, 0, 5, 7, 1000}, true));
}

TEST(SnowflakeLayoutBounds, AreCheckedInTextsToo) {
    EXPECT_EQ(error_of("epoch=-1 timestamp=41 sequence=12"),
              (LayoutError{Reason::bounds, Field::epoch, {}, -1, 0, max_epoch_unix_ms}));
    EXPECT_EQ(error_of("epoch=1969-12-31T23:59:59.999Z timestamp=41 sequence=12"),
              (LayoutError{Reason::bounds, Field::epoch, {}, -1, 0, max_epoch_unix_ms}));
    EXPECT_EQ(error_of("epoch=0 unit=0ms timestamp=41 sequence=12"),
              (LayoutError{Reason::bounds, Field::unit, {}, 0, 1, 60'000}));
    EXPECT_EQ(error_of("epoch=0 unit=61s timestamp=41 sequence=12"),
              (LayoutError{Reason::bounds, Field::unit, {}, 61'000, 1, 60'000}));
    EXPECT_EQ(error_of("epoch=0 unit=-999999999999999s timestamp=41 sequence=12"),
              (LayoutError{Reason::bounds, Field::unit, {}, -999999999999999000, 1, 60'000}));
    EXPECT_EQ(error_of("epoch=0 timestamp=41 sequence=999999999999999999"),
              (LayoutError{Reason::bounds, Field::sequence, {}, 999999999999999999, 0, 31}));
    EXPECT_EQ(error_of("epoch=2003-03-18T07:20:19.224Z timestamp=40 sequence=13 js").reason,
              Reason::unsafe);
}

}  // namespace
}  // namespace snowdrift
