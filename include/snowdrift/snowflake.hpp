// Snowflake IDs: a timestamp, the node that issued the ID, and a sequence, packed into the 63 value
// bits of a signed 64-bit integer. A SnowflakeLayout defines the position of each field.
// snowflake_presets.hpp has the layouts of well-known services, snowflake_layout.hpp the text form
// of layouts, src/core the generators.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

namespace snowdrift {

/// The fields of a Snowflake ID.
struct SnowflakeParts {
    int64_t unix_ms;      ///< milliseconds since 1970-01-01T00:00:00Z
    uint32_t datacenter;  ///< 0 .. layout.max_datacenter()
    uint32_t worker;      ///< 0 .. layout.max_worker()
    uint32_t sequence;    ///< 0 .. layout.max_sequence()

    friend constexpr bool operator==(const SnowflakeParts&, const SnowflakeParts&) = default;
};

/// The positions of the fields of a Snowflake ID. From the most significant bit down: a timestamp
/// in milliseconds since `epoch_unix_ms`, a datacenter, a worker, and a sequence that distinguishes
/// the IDs of one millisecond. Widths are in bits, and their sum is at most 64. IDs do not use the
/// sign bit: if the sum is 64, the upper half of the timestamps is out of range. make_layout() in
/// snowflake_layout.hpp checks all requirements of a layout.
struct SnowflakeLayout {
    int64_t epoch_unix_ms;
    uint8_t timestamp_bits;
    uint8_t datacenter_bits;
    uint8_t worker_bits;
    uint8_t sequence_bits;
    bool js = false;                 ///< declared safe in JavaScript: all IDs are below 2^53
    std::array<uint8_t, 3> zeros{};  ///< instead of padding, so that equal layouts have equal bytes

    friend constexpr bool operator==(const SnowflakeLayout&, const SnowflakeLayout&) = default;

    /// The width of the node in bits: datacenter and worker together.
    constexpr int node_bits() const noexcept { return datacenter_bits + worker_bits; }

    /// The number of bits below the timestamp.
    constexpr int timestamp_shift() const noexcept { return node_bits() + sequence_bits; }

    /// The largest ID: all bits of the fields are 1, the sign bit is 0.
    constexpr int64_t max_id() const noexcept {
        return static_cast<int64_t>(ones(std::min(timestamp_bits + timestamp_shift(), 63)));
    }

    constexpr uint32_t max_datacenter() const noexcept { return ones32(datacenter_bits); }
    constexpr uint32_t max_worker() const noexcept { return ones32(worker_bits); }
    constexpr uint32_t max_sequence() const noexcept { return ones32(sequence_bits); }
    constexpr uint32_t max_node() const noexcept { return ones32(node_bits()); }

    /// The largest timestamp, in milliseconds since the epoch.
    constexpr uint64_t max_timestamp() const noexcept {
        return static_cast<uint64_t>(max_id()) >> timestamp_shift();
    }

    /// The last timestamp, in milliseconds since 1970-01-01T00:00:00Z. The first is
    /// `epoch_unix_ms`.
    constexpr int64_t max_unix_ms() const noexcept {
        return epoch_unix_ms + static_cast<int64_t>(max_timestamp());
    }

    /// Whether `unix_ms` is in epoch_unix_ms .. max_unix_ms().
    constexpr bool contains_time(int64_t unix_ms) const noexcept {
        return unix_ms >= epoch_unix_ms && unix_ms <= max_unix_ms();
    }

    /// Whether `id` is in 0 .. max_id().
    constexpr bool contains_id(int64_t id) const noexcept { return id >= 0 && id <= max_id(); }

    /// Returns the ID with these fields. Precondition: each field is in its range.
    constexpr int64_t compose(const SnowflakeParts& parts) const noexcept {
        const uint64_t node = uint64_t{parts.datacenter} << worker_bits | parts.worker;
        return boundary(parts.unix_ms) |
               static_cast<int64_t>(node << sequence_bits | parts.sequence);
    }

    /// The fields of `id`. Precondition: contains_id(id).
    constexpr SnowflakeParts split(int64_t id) const noexcept {
        const auto bits = static_cast<uint64_t>(id);
        return {epoch_unix_ms + static_cast<int64_t>(bits >> timestamp_shift()),
                static_cast<uint32_t>(bits >> (worker_bits + sequence_bits)) & max_datacenter(),
                static_cast<uint32_t>(bits >> sequence_bits) & max_worker(),
                static_cast<uint32_t>(bits) & max_sequence()};
    }

    /// The smallest ID whose timestamp is not before `unix_ms`: all bits below the timestamp are 0.
    /// Precondition: contains_time(unix_ms).
    constexpr int64_t boundary(int64_t unix_ms) const noexcept {
        return (unix_ms - epoch_unix_ms) << timestamp_shift();
    }

    /// The largest ID whose timestamp is before `unix_ms`. Precondition:
    /// contains_time(unix_ms - 1).
    constexpr int64_t last_before(int64_t unix_ms) const noexcept {
        return boundary(unix_ms - 1) | static_cast<int64_t>(ones(timestamp_shift()));
    }

 private:
    static constexpr uint64_t ones(int bits) noexcept { return (uint64_t{1} << bits) - 1; }
    static constexpr uint32_t ones32(int bits) noexcept {
        return static_cast<uint32_t>(ones(bits));
    }
};

// Tables store these 16 bytes as values of type snowflake_layout.
static_assert(sizeof(SnowflakeLayout) == 16 && alignof(SnowflakeLayout) == 8);
static_assert(std::is_trivially_copyable_v<SnowflakeLayout> &&
              std::has_unique_object_representations_v<SnowflakeLayout>);

}  // namespace snowdrift
