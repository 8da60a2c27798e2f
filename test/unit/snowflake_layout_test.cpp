// Properties of all valid layouts, checked with random ones; and the text form of layouts.
#include "snowdrift/snowflake_layout.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <random>
#include <string>
#include <vector>

namespace snowdrift {

void PrintTo(const LayoutError& error, std::ostream* out) {
    *out << "reason " << int{static_cast<uint8_t>(error.reason)} << ", field "
         << layout_field_names[static_cast<size_t>(error.field)] << ", word \"" << error.word
         << "\", " << error.value << " in " << error.min << " .. " << error.max;
}

namespace {

using Reason = LayoutError::Reason;
using Field = LayoutField;

constexpr int64_t new_year_2024 = 1704067200000;
constexpr int64_t base_clock = 1047972019225;  // 2003-03-18T07:20:19.225Z

/// The layout of a text; fails the test if the text is invalid.
SnowflakeLayout parse(std::string_view text) {
    SnowflakeLayout layout{};
    EXPECT_EQ(parse_layout(text, layout), LayoutError{}) << text;
    return layout;
}

/// The error of an invalid text. It must not change the layout.
LayoutError error_of(std::string_view text) {
    SnowflakeLayout layout = presets::twitter;
    const LayoutError error = parse_layout(text, layout);
    EXPECT_EQ(layout, presets::twitter) << text;
    return error;
}

/// The error of invalid values. It must not change the layout.
LayoutError error_of(LayoutValues values, bool js = false) {
    SnowflakeLayout layout = presets::twitter;
    values.js = js;
    const LayoutError error = make_layout(values, layout);
    if (error) {
        EXPECT_EQ(layout, presets::twitter);
    }
    return error;
}

std::string format(const SnowflakeLayout& layout) {
    char text[max_layout_text_size];
    return {text, format_layout(layout, text)};
}

class Random {
 public:
    /// A number from min to max, often one of these two.
    int64_t number(int64_t min, int64_t max) {
        const auto n = random_();
        if (n % 8 == 0) return min;
        if (n % 8 == 1) return max;
        return min + static_cast<int64_t>(random_() % (static_cast<uint64_t>(max - min) + 1));
    }

    SnowflakeLayout layout() {
        SnowflakeLayout layout{};
        LayoutValues values;
        do {
            values = {number(0, max_epoch_unix_ms),
                      number(1, 48),
                      number(0, 31),
                      number(0, 31),
                      number(0, 31),
                      number(0, 1) == 1 ? 1 : number(1, max_unit_ms),
                      static_cast<FieldOrder>(number(0, 5)),
                      number(0, 1) == 1};
        } while (make_layout(values, layout));
        return layout;
    }

    SnowflakeParts parts(const SnowflakeLayout& layout) {
        return {layout.truncate(number(layout.epoch_unix_ms, layout.max_unix_ms())),
                static_cast<uint32_t>(number(0, layout.max_datacenter())),
                static_cast<uint32_t>(number(0, layout.max_worker())),
                static_cast<uint32_t>(number(0, layout.max_sequence()))};
    }

 private:
    std::mt19937_64 random_{20240101};
};

/// Calls `check` for many random layouts.
template <typename Check>
void for_random_layouts(Check check) {
    Random random;
    for (int i = 0; i < 20'000 && !testing::Test::HasFailure(); ++i) {
        const SnowflakeLayout layout = random.layout();
        SCOPED_TRACE(format(layout));
        check(layout, random);
    }
}

TEST(SnowflakeLayouts, SplitIsTheInverseOfCompose) {
    for_random_layouts([](const SnowflakeLayout& layout, Random& random) {
        const SnowflakeParts parts = random.parts(layout);
        const int64_t id = layout.compose(parts);
        ASSERT_TRUE(layout.contains_id(id));
        ASSERT_EQ(layout.split(id), parts);
        const int64_t other = random.number(0, layout.max_id());
        ASSERT_EQ(layout.compose(layout.split(other)), other);
    });
}

TEST(SnowflakeLayouts, LimitsAreExact) {
    for_random_layouts([](const SnowflakeLayout& layout, Random&) {
        const SnowflakeParts first{layout.epoch_unix_ms, 0, 0, 0};
        const SnowflakeParts last{layout.max_unix_ms(), layout.max_datacenter(),
                                  layout.max_worker(), layout.max_sequence()};
        ASSERT_EQ(layout.split(0), first);
        ASSERT_EQ(layout.split(layout.max_id()), last);
        ASSERT_FALSE(layout.contains_id(-1));
        ASSERT_TRUE(layout.max_id() == INT64_MAX || !layout.contains_id(layout.max_id() + 1));
        ASSERT_FALSE(layout.contains_time(layout.epoch_unix_ms - 1));
        ASSERT_TRUE(layout.contains_time(layout.epoch_unix_ms));
        ASSERT_TRUE(layout.contains_time(layout.max_unix_ms()));
        ASSERT_FALSE(layout.contains_time(layout.max_unix_ms() + 1));

        const int width = layout.timestamp_bits + layout.node_bits() + layout.sequence_bits;
        ASSERT_EQ(static_cast<uint64_t>(layout.max_id()) + 1, uint64_t{1} << std::min(width, 63));
        ASSERT_TRUE(!layout.js || layout.max_id() < int64_t{1} << 53);
    });
}

TEST(SnowflakeLayouts, ABoundaryIsTheLeastIdNotBeforeItsTime) {
    for_random_layouts([](const SnowflakeLayout& layout, Random& random) {
        const int64_t time = random.number(layout.epoch_unix_ms, layout.max_unix_ms());
        const int64_t boundary = layout.boundary(time);
        const int64_t first = layout.split(boundary).unix_ms;
        ASSERT_EQ(layout.split(boundary), (SnowflakeParts{first, 0, 0, 0}));
        ASSERT_TRUE(first >= time && first - time < layout.unit_ms);
        ASSERT_TRUE(boundary == 0 || layout.split(boundary - 1).unix_ms == first - layout.unit_ms);
        ASSERT_TRUE(boundary == 0 || layout.last_before(time) == boundary - 1);
        ASSERT_EQ(layout.last_before(layout.max_unix_ms() + 1), layout.max_id());
    });
}

TEST(SnowflakeLayouts, AnIdStandsForAllTimesOfItsUnit) {
    for_random_layouts([](const SnowflakeLayout& layout, Random& random) {
        SnowflakeParts parts = random.parts(layout);
        const int64_t id = layout.compose(parts);
        const int64_t first = parts.unix_ms;
        parts.unix_ms += random.number(0, layout.unit_ms - 1);
        ASSERT_EQ(layout.compose(parts), id);
        ASSERT_EQ(layout.truncate(parts.unix_ms), first);
        ASSERT_NE(layout.truncate(first + layout.unit_ms), first);
        ASSERT_EQ(layout.truncate(layout.epoch_unix_ms - 1), layout.epoch_unix_ms - 1);
    });
}

TEST(SnowflakeLayouts, EachBitOfAnIdBelongsToOneField) {
    for_random_layouts([](const SnowflakeLayout& layout, Random&) {
        const SnowflakeParts none{layout.epoch_unix_ms, 0, 0, 0};
        int64_t all = layout.boundary(layout.max_unix_ms());
        int shift = layout.timestamp_shift();
        for (const SnowflakeField field : layout.fields()) {
            SnowflakeParts parts = none;
            if (field == SnowflakeField::datacenter) parts.datacenter = layout.max_datacenter();
            if (field == SnowflakeField::worker) parts.worker = layout.max_worker();
            if (field == SnowflakeField::sequence) parts.sequence = layout.max_sequence();
            const int64_t id = layout.compose(parts);
            ASSERT_EQ(all & id, 0);
            all |= id;
            // The fields are in the order that the layout states.
            shift -= layout.bits(field);
            ASSERT_EQ(id, ((int64_t{1} << layout.bits(field)) - 1) << shift);
        }
        ASSERT_EQ(all, layout.max_id());
    });
}

TEST(SnowflakeLayouts, AnEarlierTimeIsASmallerId) {
    for_random_layouts([](const SnowflakeLayout& layout, Random& random) {
        SnowflakeParts a = random.parts(layout);
        SnowflakeParts b = random.parts(layout);
        if (random.number(0, 3) == 2)
            b.unix_ms = std::min(a.unix_ms + layout.unit_ms, layout.max_unix_ms());
        if (a.unix_ms == b.unix_ms) return;
        ASSERT_EQ(layout.compose(a) < layout.compose(b), a.unix_ms < b.unix_ms);
    });
}

TEST(SnowflakeLayouts, WhatIsWrittenReadsAsTheSameLayout) {
    for_random_layouts([](const SnowflakeLayout& layout, Random&) {
        ASSERT_EQ(parse(format(layout)), layout);
        SnowflakeLayout copy{};
        ASSERT_FALSE(make_layout(values_of(layout), copy));
        ASSERT_EQ(copy, layout);
        ASSERT_LE(format(layout).size(), max_layout_text_size);
    });
}

TEST(SnowflakeLayouts, HaveNoTimeThatCannotBeWritten) {
    SnowflakeLayout last{};
    ASSERT_FALSE(make_layout({max_epoch_unix_ms, 48, 0, 0, 0}, last));
    char text[max_utc_text_size];
    EXPECT_EQ((std::string{text, format_utc(last.max_unix_ms(), text)}),
              "18919-08-03T05:31:50.654Z");
    for (int64_t unit = 1; unit <= max_unit_ms; ++unit) {
        const LayoutError error = error_of({max_epoch_unix_ms, 49, 0, 0, 0, unit});
        ASSERT_EQ(error.field, Field::timestamp);
        SnowflakeLayout layout{};
        ASSERT_FALSE(make_layout({max_epoch_unix_ms, error.max, 0, 0, 0, unit}, layout));
        ASSERT_LE(layout.max_unix_ms(), last.max_unix_ms());
        ASSERT_GT(layout.max_unix_ms(), max_epoch_unix_ms);
    }
}

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
