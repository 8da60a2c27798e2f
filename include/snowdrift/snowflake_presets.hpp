// Named Snowflake layouts of well-known services, with the epochs and field widths that each
// service publishes.
#pragma once

#include <string_view>

#include "snowdrift/snowflake.hpp"

namespace snowdrift {

namespace presets {

// The values are the epoch in Unix milliseconds, then the widths of timestamp, datacenter, worker
// and sequence in bits.

/// Snowdrift. Epoch 2021-01-01T00:00:00Z.
inline constexpr SnowflakeLayout snowflake{1609459200000, 41, 5, 5, 12};

/// Twitter, now X. Epoch 2010-11-04T01:42:54.657Z.
inline constexpr SnowflakeLayout twitter{1288834974657, 41, 5, 5, 12};

/// Discord. Epoch 2015-01-01T00:00:00Z. The datacenter is Discord's worker, the worker its process.
inline constexpr SnowflakeLayout discord{1420070400000, 42, 5, 5, 12};

/// Instagram. Epoch 2011-08-24T21:07:01.721Z. The worker is the shard.
inline constexpr SnowflakeLayout instagram{1314220021721, 41, 0, 13, 10};

/// Mastodon. Epoch 1970-01-01T00:00:00Z.
inline constexpr SnowflakeLayout mastodon{0, 48, 0, 0, 16};

/// pgEdge. Epoch 2023-01-01T00:00:00Z. The worker is the node.
inline constexpr SnowflakeLayout pgedge{1672531200000, 41, 0, 10, 12};

/// Mastic. Epoch 2026-01-01T00:00:00Z.
inline constexpr SnowflakeLayout mastic{1767225600000, 48, 0, 0, 16};

/// Snowflake-SI: 53 bits, safe in JavaScript. Epoch 2021-01-01T00:00:00Z. The worker is the
/// machine.
inline constexpr SnowflakeLayout si{1609459200000, 40, 0, 5, 8, true};

static_assert(snowflake.max_id() == INT64_MAX && si.max_id() == (int64_t{1} << 53) - 1);

}  // namespace presets

/// A layout and its name.
struct LayoutPreset {
    std::string_view name;
    SnowflakeLayout layout;
};

/// All presets. The first one is the default layout.
inline constexpr LayoutPreset layout_presets[] = {
    {"snowflake", presets::snowflake}, {"twitter", presets::twitter},
    {"discord", presets::discord},     {"mastodon", presets::mastodon},
    {"instagram", presets::instagram}, {"pgedge", presets::pgedge},
    {"mastic", presets::mastic},       {"si", presets::si},
};

}  // namespace snowdrift
