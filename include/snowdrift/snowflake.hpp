// Snowflake IDs: a timestamp, the node that issued the ID, and a sequence, packed into the 63 value
// bits of a signed 64-bit integer. A SnowflakeLayout defines the position of each field.
// snowflake_presets.hpp has the layouts of well-known services, snowflake_layout.hpp the text form
// of layouts, generators.hpp the generators.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "snowdrift/time.hpp"

namespace snowdrift {

/// The order of the fields below the timestamp, from the most significant bit down. Tables store
/// these values, so they never change.
enum class FieldOrder : uint8_t {
    datacenter_worker_sequence = 0,
    datacenter_sequence_worker = 1,
    worker_datacenter_sequence = 2,
    worker_sequence_datacenter = 3,
    sequence_datacenter_worker = 4,
    sequence_worker_datacenter = 5,
};

/// A field below the timestamp.
enum class SnowflakeField : uint8_t { datacenter, worker, sequence };

/// The fields below the timestamp, from the most significant bit down.
using SnowflakeFields = std::array<SnowflakeField, 3>;

/// The fields of each FieldOrder.
inline constexpr std::array<SnowflakeFields, 6> fields_in_order = [] {
    using enum SnowflakeField;
    return std::array<SnowflakeFields, 6>{{{datacenter, worker, sequence},
                                           {datacenter, sequence, worker},
                                           {worker, datacenter, sequence},
                                           {worker, sequence, datacenter},
                                           {sequence, datacenter, worker},
                                           {sequence, worker, datacenter}}};
}();

/// The fields of a Snowflake ID.
struct SnowflakeParts {
    Time time{};              ///< the timestamp
    uint32_t datacenter = 0;  ///< 0 .. layout.max_datacenter()
    uint32_t worker = 0;      ///< 0 .. layout.max_worker()
    uint32_t sequence = 0;    ///< 0 .. layout.max_sequence()

    /// The value of a field below the timestamp.
    constexpr uint32_t value(SnowflakeField field) const noexcept {
        if (field == SnowflakeField::sequence) return sequence;
        return field == SnowflakeField::worker ? worker : datacenter;
    }

    friend constexpr bool operator==(const SnowflakeParts&, const SnowflakeParts&) = default;
};

/// The positions of the fields of a Snowflake ID. From the most significant bit down: a timestamp
/// in units of `unit_ms` since `epoch_unix_ms`; then, in any order, a datacenter, a worker, and a
/// sequence that distinguishes the IDs of one time unit. Widths are in bits, and their sum is at
/// most 64. IDs do not use the sign bit: if the sum is 64, the upper half of the timestamps is out
/// of range. make_layout() in snowflake_layout.hpp checks all requirements of a layout.
///
/// An ID represents all times of its time unit. `time` of its parts is the beginning of the unit.
struct SnowflakeLayout {
    int64_t epoch_unix_ms = -1;  ///< without a valid default: a layout must state its epoch
    uint8_t timestamp_bits;
    uint8_t datacenter_bits;
    uint8_t worker_bits;
    uint8_t sequence_bits;
    bool js = false;  ///< declared safe in JavaScript: all IDs are below 2^53
    FieldOrder order = FieldOrder::datacenter_worker_sequence;  ///< canonical: see make_layout()
    uint16_t unit_ms = 1;                                       ///< the time unit in milliseconds

    friend constexpr bool operator==(const SnowflakeLayout&, const SnowflakeLayout&) = default;

    /// The width of the node in bits: datacenter and worker together.
    constexpr int node_bits() const noexcept { return datacenter_bits + worker_bits; }

    /// The number of bits below the timestamp.
    constexpr int timestamp_shift() const noexcept { return node_bits() + sequence_bits; }

    /// The fields below the timestamp, in the order of their bits.
    constexpr const SnowflakeFields& fields() const noexcept {
        return fields_in_order[static_cast<size_t>(order)];
    }

    /// The width of a field in bits.
    constexpr int bits(SnowflakeField field) const noexcept {
        if (field == SnowflakeField::sequence) return sequence_bits;
        return field == SnowflakeField::worker ? worker_bits : datacenter_bits;
    }

    /// The number of bits below a field.
    constexpr int shift(SnowflakeField field) const noexcept {
        int below = 0;
        for (size_t i = fields().size(); fields()[--i] != field;) below += bits(fields()[i]);
        return below;
    }

    /// The largest ID: all bits of the fields are 1, the sign bit is 0.
    constexpr int64_t max_id() const noexcept {
        return static_cast<int64_t>(ones(std::min(timestamp_bits + timestamp_shift(), 63)));
    }

    constexpr uint32_t max_datacenter() const noexcept { return ones32(datacenter_bits); }
    constexpr uint32_t max_worker() const noexcept { return ones32(worker_bits); }
    constexpr uint32_t max_sequence() const noexcept { return ones32(sequence_bits); }
    constexpr uint32_t max_node() const noexcept { return ones32(node_bits()); }

    /// The largest timestamp, in units since the epoch.
    constexpr uint64_t max_timestamp() const noexcept {
        return static_cast<uint64_t>(max_id()) >> timestamp_shift();
    }

    /// The last timestamp, in milliseconds since 1970-01-01T00:00:00Z: the beginning of the last
    /// time unit. The first is `epoch_unix_ms`.
    constexpr int64_t max_unix_ms() const noexcept { return unix_ms_of(max_timestamp()); }

    /// The time unit that contains the Unix millisecond `unix_ms`, counted from the epoch. A time
    /// before the epoch has a number that is greater than all timestamps.
    constexpr uint64_t units_at(int64_t unix_ms) const noexcept {
        return (static_cast<uint64_t>(unix_ms) - static_cast<uint64_t>(epoch_unix_ms)) / unit_ms;
    }

    /// The first Unix millisecond of a time unit.
    constexpr int64_t unix_ms_of(uint64_t units) const noexcept {
        return epoch_unix_ms + static_cast<int64_t>(units * unit_ms);
    }

    /// The first Unix millisecond of the time unit that contains `unix_ms`; `unix_ms` itself if it
    /// is before the epoch.
    constexpr int64_t truncate(int64_t unix_ms) const noexcept {
        return unix_ms < epoch_unix_ms ? unix_ms : unix_ms_of(units_at(unix_ms));
    }

    /// Whether the millisecond that contains `time` is in epoch_unix_ms .. max_unix_ms().
    template <typename Duration>
    [[nodiscard]] constexpr bool contains_time(
        std::chrono::sys_time<Duration> time) const noexcept {
        const int64_t unix_ms = unix_ms_floor(time);
        return unix_ms >= epoch_unix_ms && unix_ms <= max_unix_ms();
    }

    /// Whether `id` is in 0 .. max_id().
    [[nodiscard]] constexpr bool contains_id(int64_t id) const noexcept {
        return id >= 0 && id <= max_id();
    }

    /// The bits of a node in an ID: its upper bits are the datacenter, its lower bits the worker.
    /// Precondition: node <= max_node().
    constexpr uint64_t node_field(uint32_t node) const noexcept {
        assert(node <= max_node());
        return (uint64_t{node} >> worker_bits) << shift(SnowflakeField::datacenter) |
               uint64_t{node & max_worker()} << shift(SnowflakeField::worker);
    }

    /// Returns the ID with these fields. Precondition: each field is in its range, and parts.time
    /// is in the time unit of an ID.
    constexpr int64_t compose(const SnowflakeParts& parts) const noexcept {
        const uint64_t units = units_at(unix_ms_floor(parts.time));
        assert(units <= max_timestamp());
        assert(parts.datacenter <= max_datacenter() && parts.worker <= max_worker());
        assert(parts.sequence <= max_sequence());
        const auto node =
            static_cast<uint32_t>(uint64_t{parts.datacenter} << worker_bits | parts.worker);
        return static_cast<int64_t>(units << timestamp_shift() | node_field(node) |
                                    uint64_t{parts.sequence} << shift(SnowflakeField::sequence));
    }

    /// The fields of `id`. Precondition: contains_id(id).
    constexpr SnowflakeParts split(int64_t id) const noexcept {
        assert(contains_id(id));
        const auto bits = static_cast<uint64_t>(id);
        return {time_of(unix_ms_of(bits >> timestamp_shift())),
                static_cast<uint32_t>(bits >> shift(SnowflakeField::datacenter)) & max_datacenter(),
                static_cast<uint32_t>(bits >> shift(SnowflakeField::worker)) & max_worker(),
                static_cast<uint32_t>(bits >> shift(SnowflakeField::sequence)) & max_sequence()};
    }

    /// The smallest ID whose timestamp is not before `time`: its time unit is the first one that
    /// begins at or after `time`, and all other bits are 0. Precondition: contains_time(the first
    /// millisecond that does not begin before `time`).
    template <typename Duration>
    constexpr int64_t boundary(std::chrono::sys_time<Duration> time) const noexcept {
        const int64_t unix_ms = unix_ms_ceil(time);
        assert(contains_time(time_of(unix_ms)));
        return static_cast<int64_t>(units_at(unix_ms + unit_ms - 1) << timestamp_shift());
    }

    /// The largest ID whose timestamp is before `time`. Precondition: contains_time(the last
    /// millisecond that begins before `time`).
    template <typename Duration>
    constexpr int64_t last_before(std::chrono::sys_time<Duration> time) const noexcept {
        const int64_t unix_ms = unix_ms_ceil(time) - 1;
        assert(contains_time(time_of(unix_ms)));
        return static_cast<int64_t>(units_at(unix_ms) << timestamp_shift() |
                                    ones(timestamp_shift()));
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
