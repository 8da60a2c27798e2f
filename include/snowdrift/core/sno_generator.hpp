// Generation of sno values: one lock-free step on one 64-bit word. A second word for each tick
// handles regressions of the clock (tick-tock, as https://github.com/muyo/sno describes it) and a
// fresh state's lead.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cstdint>
#include <optional>

#include "snowdrift/core/generator.hpp"
#include "snowdrift/sno.hpp"
#include "snowdrift/time.hpp"

namespace snowdrift::core {

/// The state of a generator, shared by all callers. A fresh state is all zero.
struct SnoState {
    /// The last sno's timestamp (39 bits), tick (1 bit) and sequence (16 bits).
    std::atomic<uint64_t> word;
    /// For each tick, the latest timestamp, in units, that was used in its timeline before the
    /// generator left it. The one of the other timeline is the safe mark of muyo/sno. The lowest
    /// bit states whether it is a floor: whether all further values, in either timeline, must be
    /// later.
    std::array<std::atomic<uint64_t>, 2> safe;
    /// The number of regressions after which values continued at once.
    std::atomic<uint64_t> regressions;
    /// The number of values issued by at().
    std::atomic<uint64_t> at_count;
};

/// The position of a state in its two timelines. Timestamps are in units; 0 if the timeline is
/// unused.
struct SnoPosition {
    uint64_t units = 0;     ///< the latest timestamp used in the timeline of `tick`
    bool tick = false;      ///< tick of the last sno
    uint16_t sequence = 0;  ///< the last sequence used at `units`
    uint64_t safe = 0;      ///< the latest timestamp used in the other timeline

    /// The latest timestamp in either timeline.
    constexpr uint64_t highest() const noexcept { return std::max(units, safe); }

    friend constexpr bool operator==(const SnoPosition&, const SnoPosition&) = default;
};

/// Generates sno values of one partition. Generators may share a partition if the bounds of their
/// sequences do not overlap.
///
/// If the clock is set back to a time later than `safe`, generation continues at once in the other
/// timeline. Times up to `safe` are used in both timelines. If `safe` is a floor, as in a fresh
/// state that begins after other states, generation continues at the last sno's time, ahead of the
/// clock. Otherwise the caller waits until the clock has passed `safe`.
class SnoGenerator {
 public:
    using Answer = core::Answer<Sno>;

    /// Precondition: sequence_min < sequence_max.
    constexpr SnoGenerator(uint16_t partition, uint16_t sequence_min,
                           uint16_t sequence_max) noexcept
        : partition_{partition}, sequence_min_{sequence_min}, sequence_max_{sequence_max} {
        assert(sequence_min < sequence_max);
    }

    /// The maximum number of values per unit of 4 ms.
    constexpr uint32_t capacity() const noexcept { return sequence_max_ - sequence_min_ + 1U; }

    /// The timestamp of the last sno, in Unix milliseconds; 0 if there is none.
    static int64_t last_unix_ms(const SnoState& state) noexcept {
        const uint64_t word = state.word.load(std::memory_order_relaxed);
        return word == 0 ? 0 : unix_ms_of(Word{word}.units);
    }

    /// The latest timestamp in either timeline, in Unix milliseconds.
    static int64_t highest_unix_ms(const SnoState& state) noexcept {
        // Load the marks after the word: if it changes meanwhile, they include its timestamp.
        const Word last{state.word.load(std::memory_order_acquire)};
        const SafeMark safe{std::max(state.safe[0].load(std::memory_order_acquire),
                                     state.safe[1].load(std::memory_order_acquire))};
        return unix_ms_of(std::max(last.units, safe.units));
    }

    /// The beginning of a unit, in Unix milliseconds.
    static constexpr int64_t unix_ms_of(uint64_t units) noexcept {
        return Sno::epoch_unix_ms + static_cast<int64_t>(units) * Sno::unit_ms;
    }

    /// Advances a state so that all further values, in either timeline, are later than the Unix
    /// millisecond `unix_ms`: a floor, unless the safe mark is later.
    static void advance_past(SnoState& state, int64_t unix_ms) noexcept {
        const int64_t last_ms = std::min<int64_t>(unix_ms, Sno::max_timestamp_ms);
        if (last_ms >= Sno::epoch_unix_ms)
            (void)advance_past_units(state, Sno::units_at(time_of(last_ms)));
    }

    /// The position of a state.
    SnoPosition position(const SnoState& state) const noexcept {
        uint64_t present = state.word.load(std::memory_order_acquire);
        for (;;) {
            const SafeMark safe = load_safe(state, !Word{present}.tick);
            const uint64_t again = state.word.load(std::memory_order_acquire);
            if (again == present) return position(Word{present}, safe.units);
            present = again;
        }
    }

    /// The share of the sequence numbers of the wall clock's unit that a state has used in the
    /// timeline of the last sno, 0 .. 1. `word` is that of the state. Nothing for a fresh state,
    /// and for one whose last sno is ahead of that unit.
    constexpr std::optional<float> sequence_used(uint64_t word, int64_t unix_ms) const noexcept {
        const Word last{word};
        if (last.units == 0) return std::nullopt;
        const uint32_t used = last.sequence < sequence_min_
                                  ? 0
                                  : std::min(last.sequence, sequence_max_) - sequence_min_ + 1U;
        return used_share(unix_ms_of(last.units) - unix_ms, Sno::unit_ms, used, capacity());
    }

    /// Advances a fresh state to the position of another one, in both timelines. The other state's
    /// safe mark becomes a floor. Precondition: no other session can access the state.
    static void start_after(SnoState& state, const SnoPosition& other) noexcept {
        const Word own{state.word.load(std::memory_order_relaxed)};
        const bool is_later = own.units > other.units;
        state.word = Word{is_later ? own.units : other.units, other.tick,
                          is_later ? own.sequence : other.sequence}
                         .bits();
        (void)fetch_max(state.safe[!other.tick], SafeMark{other.safe, true}.bits());
    }

    /// Advances a state so that all further values are later than those of another state. Returns
    /// false if the state is already past `other`.
    bool resume_after(SnoState& state, const SnoPosition& other) const noexcept {
        const SnoPosition own = position(state);
        if (own == other) return true;
        if (own.highest() > other.highest()) return false;
        if (own.units == other.units && own.tick == other.tick && own.sequence > other.sequence)
            return false;
        return advance_past_units(state, other.highest());
    }

    /// Issues a sno at the wall clock's `unix_ms` in the common case: the last sno is not later
    /// than that unit, and the unit has a sno left. Sets `id` to the sno that next() would issue.
    /// Returns false in all other cases.
    [[nodiscard]] bool try_next(SnoState& state, int64_t unix_ms, uint8_t metabyte,
                                Sno& id) const noexcept {
        if (!Sno::contains_time(time_of(unix_ms))) [[unlikely]]
            return false;
        const uint64_t now = Sno::units_at(time_of(unix_ms));
        uint64_t present = state.word.load(std::memory_order_relaxed);
        while (present < Word{now, Word{present}.tick, sequence_max_}.bits()) {
            const Word first{now, Word{present}.tick, sequence_min_};
            const uint64_t next = std::max(present + 1, first.bits());
            assert(next > present && Word{next}.units == now);
            if (state.word.compare_exchange_weak(present, next, std::memory_order_acq_rel,
                                                 std::memory_order_relaxed)) [[likely]] {
                id = compose(Word{next}, metabyte);
                return true;
            }
        }
        return false;
    }

    /// Answers one request at the wall clock's `unix_ms`.
    ///
    /// If the clock is at or before a floor, and the last sno is ahead of it by at most
    /// `max_lead_ms`, the generator continues in the last sno's unit. A unit whose sequence is used
    /// up, and a longer lead, are handled as SnowflakeGenerator does.
    ///
    /// If both timelines have used the clock's time otherwise, the answer is `clock_behind` if the
    /// clock will pass the used times within `max_lead_ms` plus max_wait_ms, else `refused`.
    Answer next(SnoState& state, int64_t unix_ms, int64_t max_lead_ms, uint8_t metabyte,
                Request& request) const noexcept {
        if (!Sno::contains_time(time_of(unix_ms))) [[unlikely]]
            return {Verdict::out_of_range, {}, 0};
        const uint64_t now = Sno::units_at(time_of(unix_ms));

        uint64_t present = state.word.load(std::memory_order_acquire);
        for (;;) {
            const Word last{present};
            Word next{now, last.tick, sequence_min_};
            if (now == last.units) [[likely]] {
                if (last.sequence >= sequence_max_) [[unlikely]]
                    return {Verdict::exhausted, {}, unix_ms_of(now + 1)};
                next = following(last);
            } else if (now < last.units) [[unlikely]] {
                if (!request.is_behind(last.units, now, last.tick)) return {Verdict::stale, {}, 0};
                // Load the mark after the word: as long as the word is unchanged, no sno was issued
                // in the other timeline.
                const SafeMark safe = load_safe(state, !last.tick);
                if (now > safe.units) {
                    // Store the mark of this timeline before the flip. If the flip fails, the mark
                    // is not later than this timeline's last sno.
                    (void)fetch_max(state.safe[last.tick], SafeMark{last.units, false}.bits());
                    next.tick = !last.tick;
                } else {
                    if (const auto answer = delay(last, safe, unix_ms, max_lead_ms, request))
                        return *answer;
                    next = following(last);
                    if (next.units > Sno::max_units) return {Verdict::out_of_range, {}, 0};
                    raise_floor(state, last, next.units);
                }
            }
            assert(next.tick != last.tick || next.bits() > present);
            if (state.word.compare_exchange_weak(present, next.bits(), std::memory_order_acq_rel,
                                                 std::memory_order_acquire)) {
                if (next.tick != last.tick)
                    state.regressions.fetch_add(1, std::memory_order_relaxed);
                return {Verdict::issued, compose(next, metabyte), unix_ms_of(next.units)};
            }
        }
    }

    /// Returns a sno with the timestamp `unix_ms`, for the conversion of older IDs. The tick is 0.
    /// The sequence is independent of next(): it starts at sequence_min and wraps around at
    /// sequence_max, so more than capacity() values of one unit are not distinct. Precondition:
    /// Sno::contains_time(time_of(unix_ms)).
    Sno at(SnoState& state, int64_t unix_ms, uint8_t metabyte) const noexcept {
        assert(Sno::contains_time(time_of(unix_ms)));
        const uint64_t count = state.at_count.fetch_add(1, std::memory_order_relaxed);
        const auto sequence = static_cast<uint16_t>(sequence_min_ + count % capacity());
        return compose({Sno::units_at(time_of(unix_ms)), false, sequence}, metabyte);
    }

 private:
    struct Word {
        uint64_t units;
        bool tick;
        uint16_t sequence;

        constexpr Word(uint64_t own_units, bool own_tick, uint16_t own_sequence) noexcept
            : units{own_units}, tick{own_tick}, sequence{own_sequence} {}
        constexpr explicit Word(uint64_t bits) noexcept
            : units{bits >> 17},
              tick{(bits >> 16 & 1) != 0},
              sequence{static_cast<uint16_t>(bits)} {}

        constexpr uint64_t bits() const noexcept {
            return units << 17 | uint64_t{tick} << 16 | sequence;
        }
    };

    /// An element of SnoState::safe.
    struct SafeMark {
        uint64_t units;
        bool is_floor;

        constexpr SafeMark(uint64_t own_units, bool own_is_floor) noexcept
            : units{own_units}, is_floor{own_is_floor} {}
        constexpr explicit SafeMark(uint64_t bits) noexcept
            : units{bits >> 1}, is_floor{(bits & 1) != 0} {}

        constexpr uint64_t bits() const noexcept { return units << 1 | uint64_t{is_floor}; }
    };

    static SafeMark load_safe(const SnoState& state, bool tick) noexcept {
        return SafeMark{state.safe[tick].load(std::memory_order_acquire)};
    }

    /// Advance a state past the timestamp `units`. Return false if the last sno is past it.
    static bool advance_past_units(SnoState& state, uint64_t units) noexcept {
        const uint64_t floor = SafeMark{units, true}.bits();
        bool is_raised = false;
        for (auto& safe : state.safe) is_raised |= fetch_max(safe, floor) < floor;
        uint64_t present = state.word.load(std::memory_order_relaxed);
        for (;;) {
            // If a mark was raised, change the word, so that callers that have read it before
            // retry.
            const bool is_past = Word{present}.units > units;
            if (is_past && !is_raised) return false;
            const Word later =
                is_past ? skipping(Word{present}) : Word{units + 1, Word{present}.tick, 0};
            if (state.word.compare_exchange_weak(present, later.bits(), std::memory_order_acq_rel))
                return !is_past;
        }
    }

    /// The position after `last` in its timeline, whose sequence number is not issued.
    static constexpr Word skipping(const Word& last) noexcept {
        if (last.sequence == UINT16_MAX) return {last.units + 1, last.tick, 0};
        return {last.units, last.tick, static_cast<uint16_t>(last.sequence + 1)};
    }

    constexpr SnoPosition position(const Word& last, uint64_t safe) const noexcept {
        if (last.units == 0) return {.safe = safe};
        // No sno of this unit was issued.
        if (last.sequence < sequence_min_) return {last.units - 1, last.tick, sequence_max_, safe};
        return {last.units, last.tick, std::min(last.sequence, sequence_max_), safe};
    }

    /// The next position in the timeline of `last`: in its unit, or in the next one if the sequence
    /// is used up.
    constexpr Word following(const Word& last) const noexcept {
        if (last.sequence >= sequence_max_) return {last.units + 1, last.tick, sequence_min_};
        return {last.units, last.tick, std::max<uint16_t>(last.sequence + 1, sequence_min_)};
    }

    /// The answer if the generator cannot continue after `last` at the wall clock's `unix_ms`, a
    /// time that both timelines have used; nothing if it can.
    std::optional<Answer> delay(const Word& last, const SafeMark& safe, int64_t unix_ms,
                                int64_t max_lead_ms, Request& request) const noexcept {
        const int64_t lead = unix_ms_of(last.units) - unix_ms;
        if (!safe.is_floor || lead - max_wait(Sno::unit_ms) > max_lead_ms)
            return wait_until_safe(unix_ms, safe.units, max_lead_ms);
        if (lead > max_lead_ms)
            return excessive_lead<Sno>(unix_ms, lead, max_lead_ms, Sno::unit_ms);
        const uint64_t now = Sno::units_at(time_of(unix_ms));
        if (last.sequence >= sequence_max_ &&
            !request.has_waited_for(last.bits(), static_cast<int64_t>(now)))
            return Answer{Verdict::exhausted, {}, unix_ms_of(now + 1)};
        return std::nullopt;
    }

    /// Raise the floor from which the generator leads the clock, so that it leads until the clock
    /// has reached its last sno. The first caller that finds the clock behind a sno which was not
    /// ahead of it counts a regression.
    static void raise_floor(SnoState& state, const Word& last, uint64_t next) noexcept {
        const SafeMark previous{fetch_max(state.safe[!last.tick], SafeMark{next - 1, true}.bits())};
        if (previous.units + 1 < last.units)
            state.regressions.fetch_add(1, std::memory_order_relaxed);
    }

    static Answer wait_until_safe(int64_t unix_ms, uint64_t safe, int64_t max_lead_ms) noexcept {
        const int64_t resume_ms = unix_ms_of(safe + 1);
        if (resume_ms - unix_ms - max_wait_ms > max_lead_ms)
            return {Verdict::refused, {}, resume_ms - unix_ms};
        return {Verdict::clock_behind, {}, resume_ms};
    }

    constexpr Sno compose(const Word& word, uint8_t metabyte) const noexcept {
        return Sno::compose({.units = word.units,
                             .tick = word.tick,
                             .metabyte = metabyte,
                             .partition = partition_,
                             .sequence = word.sequence});
    }

    uint16_t partition_;
    uint16_t sequence_min_;
    uint16_t sequence_max_;
};

}  // namespace snowdrift::core
