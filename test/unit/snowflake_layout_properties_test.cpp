// Properties of all valid layouts, checked with random ones.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "unit/snowflake_layout_helpers.hpp"

namespace snowdrift {
namespace {

using Field = LayoutField;

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
        return {time_of(layout.truncate(number(layout.epoch_unix_ms, layout.max_unix_ms()))),
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
        const SnowflakeParts first{time_of(layout.epoch_unix_ms), 0, 0, 0};
        const SnowflakeParts last{time_of(layout.max_unix_ms()), layout.max_datacenter(),
                                  layout.max_worker(), layout.max_sequence()};
        ASSERT_EQ(layout.split(0), first);
        ASSERT_EQ(layout.split(layout.max_id()), last);
        ASSERT_FALSE(layout.contains_id(-1));
        ASSERT_TRUE(layout.max_id() == INT64_MAX || !layout.contains_id(layout.max_id() + 1));
        ASSERT_FALSE(layout.contains_time(time_of(layout.epoch_unix_ms - 1)));
        ASSERT_TRUE(layout.contains_time(time_of(layout.epoch_unix_ms)));
        ASSERT_TRUE(layout.contains_time(time_of(layout.max_unix_ms())));
        ASSERT_FALSE(layout.contains_time(time_of(layout.max_unix_ms() + 1)));

        const int width = layout.timestamp_bits + layout.node_bits() + layout.sequence_bits;
        ASSERT_EQ(static_cast<uint64_t>(layout.max_id()) + 1, uint64_t{1} << std::min(width, 63));
        ASSERT_TRUE(!layout.js || layout.max_id() < int64_t{1} << 53);
    });
}

TEST(SnowflakeLayouts, ABoundaryIsTheLeastIdNotBeforeItsTime) {
    for_random_layouts([](const SnowflakeLayout& layout, Random& random) {
        const int64_t time = random.number(layout.epoch_unix_ms, layout.max_unix_ms());
        const int64_t boundary = layout.boundary(time_of(time));
        const int64_t first = unix_ms_of(layout.split(boundary).time);
        ASSERT_EQ(layout.split(boundary), (SnowflakeParts{time_of(first), 0, 0, 0}));
        ASSERT_TRUE(first >= time && first - time < layout.unit_ms);
        ASSERT_TRUE(boundary == 0 ||
                    unix_ms_of(layout.split(boundary - 1).time) == first - layout.unit_ms);
        ASSERT_TRUE(boundary == 0 || layout.last_before(time_of(time)) == boundary - 1);
        ASSERT_EQ(layout.last_before(time_of(layout.max_unix_ms() + 1)), layout.max_id());
    });
}

TEST(SnowflakeLayouts, AnIdStandsForAllTimesOfItsUnit) {
    for_random_layouts([](const SnowflakeLayout& layout, Random& random) {
        SnowflakeParts parts = random.parts(layout);
        const int64_t id = layout.compose(parts);
        const int64_t first = unix_ms_of(parts.time);
        parts.time += Time::duration{random.number(0, layout.unit_ms - 1)};
        ASSERT_EQ(layout.compose(parts), id);
        ASSERT_EQ(layout.truncate(unix_ms_of(parts.time)), first);
        ASSERT_NE(layout.truncate(first + layout.unit_ms), first);
        ASSERT_EQ(layout.truncate(layout.epoch_unix_ms - 1), layout.epoch_unix_ms - 1);
    });
}

TEST(SnowflakeLayouts, EachBitOfAnIdBelongsToOneField) {
    for_random_layouts([](const SnowflakeLayout& layout, Random&) {
        const SnowflakeParts none{time_of(layout.epoch_unix_ms), 0, 0, 0};
        int64_t all = layout.boundary(time_of(layout.max_unix_ms()));
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
            b.time =
                std::min(a.time + Time::duration{layout.unit_ms}, time_of(layout.max_unix_ms()));
        if (a.time == b.time) return;
        ASSERT_EQ(layout.compose(a) < layout.compose(b), a.time < b.time);
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

}  // namespace
}  // namespace snowdrift
