// Comparison of SnowflakeLayout with its model.
#pragma once

#include "fuzz/check.hpp"
#include "fuzz/layout_model.hpp"
#include "snowdrift/snowflake_layout.hpp"

namespace snowdrift::fuzz {

inline model::LayoutFault fault_of(const LayoutError& error) {
    using Reason = LayoutError::Reason;
    if (!error) return model::LayoutFault::none;
    return error.reason == Reason::bounds || error.reason == Reason::unsafe
               ? model::LayoutFault::bounds
               : model::LayoutFault::syntax;
}

/// Checks that a layout has the values, widths and positions of the model.
inline void check_same(const SnowflakeLayout& layout, const model::Layout& expected) {
    REQUIRE(layout.epoch_unix_ms == expected.epoch && layout.unit_ms == expected.unit);
    REQUIRE(layout.js == expected.js);
    REQUIRE(layout.timestamp_bits == expected.width("timestamp"));
    REQUIRE(layout.bits(SnowflakeField::datacenter) == expected.width("datacenter"));
    REQUIRE(layout.bits(SnowflakeField::worker) == expected.width("worker"));
    REQUIRE(layout.bits(SnowflakeField::sequence) == expected.width("sequence"));
    int64_t below = expected.total();
    for (const auto& [name, width] : expected.fields) {
        below -= width;
        if (width == 0) continue;
        const int shift = name == "timestamp"    ? layout.timestamp_shift()
                          : name == "datacenter" ? layout.shift(SnowflakeField::datacenter)
                          : name == "worker"     ? layout.shift(SnowflakeField::worker)
                                                 : layout.shift(SnowflakeField::sequence);
        REQUIRE(shift == below);
    }
}

}  // namespace snowdrift::fuzz
