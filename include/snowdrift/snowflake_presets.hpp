// Named Snowflake layouts of well-known services, with the epochs and field widths that each
// service publishes.
#pragma once

#include <string_view>

#include "snowdrift/snowflake.hpp"

namespace snowdrift {

namespace presets {

// The values are the epoch in Unix milliseconds, then the widths of timestamp, datacenter, worker
// and sequence in bits. Fields are in this order and the time unit is 1 ms unless a layout says
// otherwise. docs/layouts.md links the programs.

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

/// Sonyflake, version 1: 10 ms, and the sequence above the machine (the worker). Epoch
/// 2014-09-01T00:00:00Z.
inline constexpr SnowflakeLayout sonyflake{
    .epoch_unix_ms = 1409529600000,
    .timestamp_bits = 39,
    .datacenter_bits = 0,
    .worker_bits = 16,
    .sequence_bits = 8,
    .order = FieldOrder::datacenter_sequence_worker,
    .unit_ms = 10,
};

/// Sonyflake, version 2: another epoch, 2025-01-01T00:00:00Z.
inline constexpr SnowflakeLayout sonyflake_v2 = [] {
    SnowflakeLayout layout = sonyflake;
    layout.epoch_unix_ms = 1735689600000;
    return layout;
}();

/// Hazelcast's FlakeIdGenerator: the sequence above the node (the worker). Epoch
/// 2018-01-01T00:00:00Z.
inline constexpr SnowflakeLayout hazelcast{
    .epoch_unix_ms = 1514764800000,
    .timestamp_bits = 41,
    .datacenter_bits = 0,
    .worker_bits = 16,
    .sequence_bits = 6,
    .order = FieldOrder::datacenter_sequence_worker,
};

/// TSID. Epoch 2020-01-01T00:00:00Z. The worker is the node.
inline constexpr SnowflakeLayout tsid{1577836800000, 42, 0, 10, 12};

/// ClickHouse's generateSnowflakeID(). Epoch 1970-01-01T00:00:00Z. The worker is the machine.
inline constexpr SnowflakeLayout clickhouse{0, 41, 0, 10, 12};

/// Baidu's UidGenerator: 1 s. Epoch 2016-05-19T16:00:00Z, midnight in China.
inline constexpr SnowflakeLayout baidu{
    .epoch_unix_ms = 1463673600000,
    .timestamp_bits = 28,
    .datacenter_bits = 0,
    .worker_bits = 22,
    .sequence_bits = 13,
    .unit_ms = 1000,
};

/// Meituan's Leaf. Epoch 2010-11-04T01:42:54.657Z, which is Twitter's.
inline constexpr SnowflakeLayout leaf{1288834974657, 41, 0, 10, 12};

/// CosId. Epoch 2019-12-24T16:00:00Z, midnight in China. The worker is the machine.
inline constexpr SnowflakeLayout cosid{1577203200000, 41, 0, 10, 12};

static_assert(snowflake.max_id() == INT64_MAX && si.max_id() == (int64_t{1} << 53) - 1);

}  // namespace presets

/// A layout and its name.
struct LayoutPreset {
    std::string_view name;
    SnowflakeLayout layout;
};

/// All presets. The first one is the default layout.
inline constexpr LayoutPreset layout_presets[] = {
    {"snowflake", presets::snowflake},
    {"twitter", presets::twitter},
    {"discord", presets::discord},
    {"mastodon", presets::mastodon},
    {"instagram", presets::instagram},
    {"pgedge", presets::pgedge},
    {"mastic", presets::mastic},
    {"si", presets::si},
    {"sonyflake", presets::sonyflake},
    {"sonyflake_v2", presets::sonyflake_v2},
    {"hazelcast", presets::hazelcast},
    {"tsid", presets::tsid},
    {"clickhouse", presets::clickhouse},
    {"baidu", presets::baidu},
    {"leaf", presets::leaf},
    {"cosid", presets::cosid},
};

}  // namespace snowdrift
