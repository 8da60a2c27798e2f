// Fuzz target: the values of Snowflake layouts, and the IDs and times of valid ones.
#include "snowdrift/snowflake.hpp"

#include "fuzz/check.hpp"
#include "fuzz/layout_checks.hpp"
#include "fuzz/layout_texts.hpp"

using namespace snowdrift;
using namespace snowdrift::fuzz;

namespace {

LayoutValues values_of(const model::Layout& layout) {
    using enum SnowflakeField;
    SnowflakeFields fields{};
    std::transform(layout.fields.begin() + 1, layout.fields.end(), fields.begin(),
                   [](const auto& each) {
                       return each.first == "datacenter" ? datacenter
                              : each.first == "worker"   ? worker
                                                         : sequence;
                   });
    const auto order = std::find(fields_in_order.begin(), fields_in_order.end(), fields);
    return {layout.epoch,
            layout.width("timestamp"),
            layout.width("datacenter"),
            layout.width("worker"),
            layout.width("sequence"),
            layout.unit,
            static_cast<FieldOrder>(order - fields_in_order.begin()),
            layout.js};
}

void check_id(const SnowflakeLayout& layout, const model::Layout& expected, int64_t id) {
    REQUIRE(layout.contains_id(id) == expected.has_id(id));
    if (!layout.contains_id(id)) return;
    const SnowflakeParts parts = layout.split(id);
    auto fields = expected.split(id);
    REQUIRE(unix_ms_of(parts.time) == expected.unix_ms(id));
    REQUIRE(parts.datacenter == fields["datacenter"]);
    REQUIRE(parts.worker == fields["worker"]);
    REQUIRE(parts.sequence == fields["sequence"]);
    REQUIRE(parts.datacenter <= layout.max_datacenter() && parts.worker <= layout.max_worker() &&
            parts.sequence <= layout.max_sequence());
    REQUIRE(layout.compose(parts) == id);
}

void check_times(const SnowflakeLayout& layout, const model::Layout& expected, Input& input) {
    using model::Wide;
    const auto any = static_cast<int64_t>(input.number());
    const int64_t within = input.between(layout.epoch_unix_ms, layout.max_unix_ms());
    const int64_t first = expected.epoch;
    const int64_t last = layout.max_unix_ms();
    REQUIRE(last == expected.unix_ms(static_cast<int64_t>(model::number_of(expected.max_bits()))));
    REQUIRE(layout.contains_time(time_of(any)) == (any >= first && any <= last));
    REQUIRE(layout.contains_time(time_of(within)));
    if (any < first) {
        REQUIRE(layout.truncate(any) == any);
        REQUIRE(layout.units_at(any) > layout.max_timestamp());
    }

    const uint64_t count = expected.unit_count();
    const auto first_unit = [&](Wide time) {
        return model::first_unit(count, first, expected.unit, time);
    };
    const uint64_t next = first_unit(Wide{within} + 1);  // the first unit after `within`
    REQUIRE(layout.max_timestamp() == count - 1);
    REQUIRE(layout.units_at(within) == next - 1);
    REQUIRE(layout.truncate(within) == layout.unix_ms_of(next - 1));
    REQUIRE(layout.boundary(time_of(within)) == expected.of(first_unit(within), '0'));
    REQUIRE(layout.last_before(time_of(within + 1)) == expected.of(next - 1, '1'));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Input input{data, size};
    const model::Layout expected = any_layout(input);
    SnowflakeLayout layout = presets::tsid;
    const LayoutError error = make_layout(values_of(expected), layout);
    REQUIRE(bool{error} == !expected.is_valid());
    if (error) {
        REQUIRE(layout == presets::tsid && fault_of(error) == model::LayoutFault::bounds);
        return 0;
    }
    check_same(layout, expected);
    SnowflakeLayout again{};
    REQUIRE(!make_layout(snowdrift::values_of(layout), again) && again == layout);

    REQUIRE(static_cast<uint64_t>(layout.max_id()) == model::number_of(expected.max_bits()));
    check_id(layout, expected, static_cast<int64_t>(input.number()));
    check_id(layout, expected, input.between(0, layout.max_id()));
    check_times(layout, expected, input);
    return 0;
}
