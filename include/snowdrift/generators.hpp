// Generators for programs that generate IDs themselves: thread-safe, and without PostgreSQL. Each
// consists of the same steps as in the extension (core/generator.hpp), a clock and a state.
//
// The rule is that of the steps: while a generator exists, it repeats no ID, whatever the clock
// shows (sentence 3 of the proof in docs/guarantees.md).
//
// What can go wrong: the state is only in memory, and there is no mark. After a restart, a program
// can repeat IDs of time units that the clock has not passed: advance_past() continues after the
// last ID that was stored. After fork(), the child process has a copy of the state. Two generators
// can have the same node, whether they are in this program, in another one or in the extension.
// Nothing detects these cases. docs/cpp.md describes what to do.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "snowdrift/core/block_generator.hpp"
#include "snowdrift/core/generator.hpp"
#include "snowdrift/core/sno_generator.hpp"
#include "snowdrift/core/snowflake_generator.hpp"
#include "snowdrift/sno.hpp"
#include "snowdrift/snowflake_id.hpp"
#include "snowdrift/time.hpp"
#include "snowdrift/ulid.hpp"
#include "snowdrift/uuidv7.hpp"

namespace snowdrift {

/// Thrown if a generator cannot issue an ID at the current time: the clock is too far behind the
/// last ID, or outside the format's range.
class ClockError : public std::runtime_error {
 public:
    using runtime_error::runtime_error;
};

/// How far IDs may be ahead of a clock that was set back, unless the program says otherwise. The
/// extension's setting snowdrift.max_clock_lead has the same default.
inline constexpr std::chrono::milliseconds default_max_clock_lead{60'000};

/// The clock of a generator. Tests use another type with these members.
struct SystemClock {
    /// The current time, in Unix milliseconds.
    static int64_t now_ms() { return unix_ms_floor(std::chrono::system_clock::now()); }

    /// Waits until the Unix millisecond `unix_ms`, but returns after 100 ms at the latest, because
    /// the clock may be set meanwhile. The caller asks again.
    static void wait_until_ms(int64_t unix_ms) {
        constexpr std::chrono::milliseconds max_sleep{100};
        const auto now = std::chrono::system_clock::now();
        if (unix_ms - unix_ms_floor(now) > max_sleep.count())
            std::this_thread::sleep_for(max_sleep);
        else
            std::this_thread::sleep_for(time_of(unix_ms) - now);
    }
};

namespace detail {

/// The size of a cache line, in bytes.
inline constexpr size_t cache_line = 64;

[[noreturn]] inline void throw_clock_error(core::Verdict verdict, int64_t behind_ms) {
    if (verdict == core::Verdict::refused)
        throw ClockError{"clock moved backwards by " + std::to_string(behind_ms) +
                         " ms; refusing to generate IDs"};
    throw ClockError{"the clock is outside the range of times of these IDs"};
}

/// Returns `value`, or throws std::invalid_argument if it is above `max`. Values are wide, so that
/// a number too large is not cut on its way here. The `name` is that of the value in the message,
/// and `where` follows the range.
template <typename T>
constexpr T checked(const char* name, uint64_t value, T max, const char* where = "") {
    if (value <= max) [[likely]]
        return static_cast<T>(value);
    throw std::invalid_argument{std::string{name} + ' ' + std::to_string(value) +
                                " is out of range 0 .. " + std::to_string(max) + where};
}

/// Requests an ID from `ask`, a function of the time and a core::Request, until it is issued. Waits
/// as the answers require.
template <typename Clock, typename Ask>
auto draw(Ask ask) {
    using core::Verdict;
    core::Request request;
    for (;;) {
        const auto answer = ask(Clock::now_ms(), request);
        if (answer.verdict == Verdict::issued) return answer.id;
        if (answer.verdict == Verdict::refused || answer.verdict == Verdict::out_of_range)
            throw_clock_error(answer.verdict, answer.ms);
        if (answer.verdict != Verdict::stale) Clock::wait_until_ms(answer.ms);
    }
}

/// Requests an ID from `ask`. Returns nothing if the request would have to wait, or fails.
template <typename Clock, typename Ask>
auto try_draw(Ask ask) -> std::optional<decltype(ask(0, std::declval<core::Request&>()).id)> {
    core::Request request;
    auto answer = ask(Clock::now_ms(), request);
    while (answer.verdict == core::Verdict::stale) answer = ask(Clock::now_ms(), request);
    if (answer.verdict != core::Verdict::issued) return std::nullopt;
    return answer.id;
}

}  // namespace detail

/// Issues Snowflake IDs of the layout `layout` for one node. All members are thread-safe and
/// lock-free. Each ID is greater than those that were issued before.
///
/// If the clock is set back, IDs continue at the last ID's time, up to `max_clock_lead` ahead of
/// the clock. Beyond that, next() waits up to a second (and a time unit of more than 1 ms), or
/// throws ClockError.
template <SnowflakeLayout layout, typename Clock = SystemClock>
class SnowflakeGeneratorOf {
    static_assert(layout.sequence_bits >= 2, "a generator needs at least 4 sequence numbers");

 public:
    using Id = SnowflakeOf<layout>;

    using Start = core::SnowflakeGenerator::Start;

    /// A generator for a node, whose upper bits are the datacenter, and whose lower bits are the
    /// worker. No two generators whose IDs are used together may have the same node, whether they
    /// are in this program, in another one or in the extension. Throws std::invalid_argument if
    /// `node` is above layout.max_node(), or if the starts are to be spread and the layout has
    /// fewer than 5 sequence bits.
    explicit SnowflakeGeneratorOf(uint64_t node,
                                  std::chrono::milliseconds max_clock_lead = default_max_clock_lead,
                                  Start start = Start::least)
        : steps_{layout, detail::checked("node", node, layout.max_node(), " for this layout"), 0,
                 layout.max_sequence(), checked(start)},
          max_lead_ms_{max_clock_lead.count()} {}

    /// Issues an ID. If the time unit has no ID left, waits for the next one. Throws ClockError.
    Id next() {
        if (int64_t id; steps_.try_next(word_, Clock::now_ms(), id)) [[likely]]
            return Id{id};
        return Id{detail::draw<Clock>(ask())};
    }

    /// Issues an ID. Returns nothing if next() would wait or throw. While IDs are ahead of a clock
    /// that was set back, only next() begins another time unit.
    std::optional<Id> try_next() {
        const auto id = detail::try_draw<Clock>(ask());
        return id ? std::optional{Id{*id}} : std::nullopt;
    }

    /// Makes all further IDs later than the millisecond of `time`, such as the time of the last ID
    /// in a table.
    template <typename Duration>
    void advance_past(std::chrono::sys_time<Duration> time) {
        steps_.advance_past(word_, unix_ms_floor(time));
    }

 private:
    static constexpr Start checked(Start start) {
        if (start == Start::spread && layout.sequence_bits < 5)
            throw std::invalid_argument{
                "a generator needs at least 32 sequence numbers, or 5 bits, to spread them"};
        return start;
    }

    auto ask() {
        return [this](int64_t now_ms, core::Request& request) {
            return steps_.next(word_, now_ms, max_lead_ms_, request);
        };
    }

    core::SnowflakeGenerator steps_;
    int64_t max_lead_ms_;
    alignas(detail::cache_line) std::atomic<uint64_t> word_{0};
};

/// Issues Snowflake IDs of the extension's default layout: nodes 0 to 1023, 4096 IDs per
/// millisecond.
using SnowflakeGenerator = SnowflakeGeneratorOf<presets::snowflake>;

/// Issues sno values of one partition. All members are thread-safe and lock-free. Values are never
/// repeated. Those of one metabyte ascend as long as the clock does; within a time unit, values
/// sort by metabyte first.
///
/// If the clock is set back, values continue at the clock's time, with the other tick. If both
/// ticks have used that time, next() waits until the clock has passed the used times, for at most
/// `max_clock_lead` plus a second; beyond that, it throws ClockError. After advance_past(), values
/// are ahead of a clock that is behind, as Snowflakes are.
template <typename Clock = SystemClock>
class BasicSnoGenerator {
 public:
    using Id = Sno;

    /// A generator for a partition. No two generators whose values are used together may have the
    /// same partition. Throws std::invalid_argument if `partition` is above 65535.
    explicit BasicSnoGenerator(uint64_t partition,
                               std::chrono::milliseconds max_clock_lead = default_max_clock_lead)
        : steps_{detail::checked<uint16_t>("partition", partition, UINT16_MAX), 0, UINT16_MAX},
          max_lead_ms_{max_clock_lead.count()} {}

    /// Issues a sno. If the unit of 4 ms has no sno left, waits for the next one. Throws
    /// ClockError, or std::invalid_argument if `metabyte` is above 255.
    Sno next(uint64_t metabyte = 0) {
        const uint8_t byte = checked_metabyte(metabyte);
        if (Sno id; steps_.try_next(state_, Clock::now_ms(), byte, id)) [[likely]]
            return id;
        return detail::draw<Clock>(ask(byte));
    }

    /// Issues a sno. Returns nothing if next() would wait or throw ClockError. Throws
    /// std::invalid_argument if `metabyte` is above 255.
    std::optional<Sno> try_next(uint64_t metabyte = 0) {
        return detail::try_draw<Clock>(ask(checked_metabyte(metabyte)));
    }

    /// Makes all further values later than the millisecond of `time`.
    template <typename Duration>
    void advance_past(std::chrono::sys_time<Duration> time) {
        core::SnoGenerator::advance_past(state_, unix_ms_floor(time));
    }

 private:
    static uint8_t checked_metabyte(uint64_t metabyte) {
        return detail::checked<uint8_t>("metabyte", metabyte, UINT8_MAX);
    }

    auto ask(uint8_t metabyte) {
        return [this, metabyte](int64_t now_ms, core::Request& request) {
            return steps_.next(state_, now_ms, max_lead_ms_, metabyte, request);
        };
    }

    core::SnoGenerator steps_;
    int64_t max_lead_ms_;
    alignas(detail::cache_line) core::SnoState state_{};
};

using SnoGenerator = BasicSnoGenerator<>;

/// Issues ULIDs or UUIDs of version 7. All members are thread-safe; a mutex protects the state.
/// Each ID is greater than those that were issued before. Random bits from std::random_device
/// distinguish the IDs of different generators and programs.
///
/// The first ID of a millisecond has fresh random bits. Each further ID of that millisecond is one
/// greater than the previous one, as the specifications of ULIDs and of UUIDs allow, so it can be
/// guessed.
///
/// If the clock is set back, IDs continue at the last ID's time, up to `max_clock_lead` ahead of
/// the clock. Beyond that, next() waits up to a second, or throws ClockError.
template <typename Format, typename Clock = SystemClock>
class MonotonicGenerator {
 public:
    using Id = Format;
    using Block = core::IdBlock<Id>;

    MonotonicGenerator() : MonotonicGenerator(default_max_clock_lead) {}

    explicit MonotonicGenerator(std::chrono::milliseconds max_clock_lead)
        : max_lead_ms_{max_clock_lead.count()} {}

    /// Issues an ID. Throws ClockError.
    Id next() {
        return detail::draw<Clock>([this](int64_t now_ms, core::Request& request) {
            const std::lock_guard guard{mutex_};
            const int64_t lead_ms = steps_.last_unix_ms() - now_ms;
            if (lead_ms >= 0 && lead_ms <= max_lead_ms_ && !present_.empty()) [[likely]]
                return core::Answer<Id>{core::Verdict::issued, present_.take(), now_ms};
            auto answer = ask(now_ms, request);
            if (answer.verdict == core::Verdict::issued) {
                present_ = Block{answer.id};
                answer.id = present_.take();
            }
            return answer;
        });
    }

    /// Issues 2^40 consecutive IDs of the current time, which are greater than all IDs that were
    /// issued before, and less than all that are issued later. A block belongs to one thread, which
    /// takes its IDs without a lock and without reading the clock. Throws ClockError.
    Block block() {
        return Block{detail::draw<Clock>([this](int64_t now_ms, core::Request& request) {
            const std::lock_guard guard{mutex_};
            present_ = {};
            return ask(now_ms, request);
        })};
    }

    /// Makes all further IDs, except those of existing blocks, later than the millisecond of
    /// `time`.
    template <typename Duration>
    void advance_past(std::chrono::sys_time<Duration> time) {
        const std::lock_guard guard{mutex_};
        steps_.advance_past(unix_ms_floor(time));
        present_ = {};
    }

 private:
    using Steps = core::BlockGenerator<Id>;

    core::Answer<Id> ask(int64_t now_ms, core::Request& request) {
        static_assert(std::random_device::min() == 0 && std::random_device::max() == UINT32_MAX);
        const auto word = [this] { return uint64_t{random_()}; };
        const typename Steps::Random random{static_cast<uint16_t>(word()), word() << 32 | word()};
        return steps_.next(now_ms, max_lead_ms_, random, request);
    }

    int64_t max_lead_ms_;
    std::mutex mutex_;  // protects the members below
    Steps steps_;
    Block present_;  // a block with the time steps_.last_unix_ms(), or empty
    std::random_device random_;
};

using UlidGenerator = MonotonicGenerator<Ulid>;
using Uuidv7Generator = MonotonicGenerator<Uuidv7>;

}  // namespace snowdrift
