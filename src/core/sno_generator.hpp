// How snos are generated: one lock-free step on one 64-bit word, with a second word beside it for
// the clock that goes back (tick-tock, as https://github.com/muyo/sno describes it).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "core/generator.hpp"
#include "snowdrift/sno.hpp"

namespace snowdrift {

/// The state that all who generate in one place share; all zero is a fresh one.
struct SnoState {
    /// Of the last sno: timestamp (39 bits), tick (1), sequence (16).
    std::atomic<uint64_t> word;
    /// The safe mark: the other timeline, that of the other tick, was used up to this timestamp.
    std::atomic<uint64_t> safe;
    /// How often the clock went back and the tick was flipped.
    std::atomic<uint64_t> drifts;
    /// How many snos were made for times that callers brought.
    std::atomic<uint64_t> at_count;
};

/// How far a state has come in its two timelines; timestamps in units, 0 where nothing was used.
struct SnoUse {
    uint64_t units = 0;     ///< the timeline of `tick` was used up to this timestamp
    bool tick = false;      ///< of the last sno
    uint16_t sequence = 0;  ///< and in it up to this one
    uint64_t safe = 0;      ///< the other timeline was used up to this timestamp

    /// The highest wall clock that snos were made at.
    constexpr uint64_t highest() const noexcept { return std::max(units, safe); }

    friend constexpr bool operator==(const SnoUse&, const SnoUse&) = default;
};

/// Generates snos of one partition. Generators may share a partition if the bounds of their
/// sequences don't overlap.
///
/// Wait-free while the clock behaves. When it has gone back, but not to or before the safe mark,
/// generation goes on at once in the other timeline. A time at or before the safe mark is in use
/// in both timelines, and is waited out.
class SnoGenerator {
 public:
    using Answer = snowdrift::Answer<Sno>;

    /// Precondition: sequence_min < sequence_max.
    constexpr SnoGenerator(uint16_t partition, uint16_t sequence_min,
                           uint16_t sequence_max) noexcept
        : partition_{partition}, sequence_min_{sequence_min}, sequence_max_{sequence_max} {}

    /// How many snos a unit of 4 ms has for this generator.
    constexpr uint32_t capacity() const noexcept { return sequence_max_ - sequence_min_ + 1U; }

    /// The timestamp of the last sno, in Unix milliseconds; 0 if there is none.
    static int64_t last_unix_ms(const SnoState& state) noexcept {
        const uint64_t word = state.word.load(std::memory_order_relaxed);
        return word == 0 ? 0 : unix_ms_of(Word{word}.units);
    }

    /// When a unit begins, in Unix milliseconds.
    static constexpr int64_t unix_ms_of(uint64_t units) noexcept {
        return Sno::epoch_unix_ms + static_cast<int64_t>(units) * Sno::unit_ms;
    }

    /// Makes all further snos later than the millisecond `unix_ms`, in either timeline, if they
    /// aren't already: it is the safe mark of a fresh state.
    static void move_past(SnoState& state, int64_t unix_ms) noexcept {
        if (unix_ms >= Sno::epoch_unix_ms) (void)move_past_units(state, Sno::units_at(unix_ms));
    }

    /// How far a state has come.
    SnoUse use(const SnoState& state) const noexcept {
        uint64_t present = state.word.load(std::memory_order_acquire);
        for (;;) {
            const uint64_t safe = state.safe.load(std::memory_order_acquire);
            const uint64_t again = state.word.load(std::memory_order_acquire);
            if (again == present) return use(Word{present}, safe);
            present = again;
        }
    }

    /// Makes a state go on where another one was, in either timeline. Precondition: nobody has
    /// drawn from it, and nobody else sees it.
    static void begin_after(SnoState& state, const SnoUse& other) noexcept {
        const Word own{state.word.load(std::memory_order_relaxed)};
        const bool is_later = own.units > other.units;
        state.word = Word{is_later ? own.units : other.units, other.tick,
                          is_later ? own.sequence : other.sequence}
                         .bits();
        (void)raise(state.safe, other.safe);
    }

    /// Makes all further snos of a state come after all that another one has used. False if it has
    /// come further by itself.
    bool go_on_after(SnoState& state, const SnoUse& other) const noexcept {
        const SnoUse own = use(state);
        if (own == other) return true;
        if (own.highest() > other.highest()) return false;
        if (own.units == other.units && own.tick == other.tick && own.sequence > other.sequence)
            return false;
        return move_past_units(state, other.highest());
    }

    /// Sets `id` to what next() issues at the wall clock's `unix_ms`, in the plain case: the last
    /// sno is not later than that unit, which has another one. False in every other case.
    [[nodiscard]] bool try_next(SnoState& state, int64_t unix_ms, uint8_t metabyte,
                                Sno& id) const noexcept {
        if (!Sno::contains_time(unix_ms)) [[unlikely]]
            return false;
        const uint64_t now = Sno::units_at(unix_ms);
        uint64_t present = state.word.load(std::memory_order_relaxed);
        while (present < Word{now, Word{present}.tick, sequence_max_}.bits()) {
            const Word first{now, Word{present}.tick, sequence_min_};
            const uint64_t next = std::max(present + 1, first.bits());
            if (state.word.compare_exchange_weak(present, next, std::memory_order_acq_rel,
                                                 std::memory_order_relaxed)) [[likely]] {
                id = compose(Word{next}, metabyte);
                return true;
            }
        }
        return false;
    }

    /// Answers one request at the wall clock's `unix_ms`. Unsafe times are waited out if that takes
    /// at most `max_lead_ms`.
    Answer next(SnoState& state, int64_t unix_ms, int64_t max_lead_ms, uint8_t metabyte,
                Request& request) const noexcept {
        if (!Sno::contains_time(unix_ms)) [[unlikely]]
            return {Verdict::out_of_range, {}, 0};
        const uint64_t now = Sno::units_at(unix_ms);

        uint64_t present = state.word.load(std::memory_order_acquire);
        for (;;) {
            const Word last{present};
            Word next{now, last.tick, sequence_min_};
            if (now == last.units) [[likely]] {
                if (last.sequence >= sequence_max_) [[unlikely]]
                    return {Verdict::exhausted, {}, unix_ms_of(now + 1)};
                next.sequence = std::max<uint16_t>(last.sequence + 1, sequence_min_);
            } else if (now < last.units) [[unlikely]] {
                if (!request.is_behind(last.units, now)) return {Verdict::stale, {}, 0};
                // Loaded after the word: while the word stays, nobody flips the tick.
                const uint64_t safe = state.safe.load(std::memory_order_acquire);
                if (now <= safe) return unsafe(unix_ms, safe, max_lead_ms);
                // Before the flip: a safe mark that is too late only costs a wait.
                (void)raise(state.safe, last.units);
                next.tick = !last.tick;
            }
            if (state.word.compare_exchange_weak(present, next.bits(), std::memory_order_acq_rel,
                                                 std::memory_order_acquire)) {
                if (next.tick != last.tick) state.drifts.fetch_add(1, std::memory_order_relaxed);
                return {Verdict::issued, compose(next, metabyte), unix_ms_of(now)};
            }
        }
    }

    /// A sno for a time that the caller brings, as for porting older IDs: exempt from tick-tock,
    /// with a sequence of its own that begins at the lower bound and rolls over silently at the
    /// upper one. Distinct only as far as the caller's times make it so. Precondition:
    /// Sno::contains_time(unix_ms).
    Sno at(SnoState& state, int64_t unix_ms, uint8_t metabyte) const noexcept {
        const uint64_t count = state.at_count.fetch_add(1, std::memory_order_relaxed);
        const auto sequence = static_cast<uint16_t>(sequence_min_ + count % capacity());
        return compose({Sno::units_at(unix_ms), false, sequence}, metabyte);
    }

 private:
    struct Word {
        uint64_t units;
        bool tick;
        uint16_t sequence;

        constexpr Word(uint64_t units, bool tick, uint16_t sequence) noexcept
            : units{units}, tick{tick}, sequence{sequence} {}
        constexpr explicit Word(uint64_t bits) noexcept
            : units{bits >> 17},
              tick{(bits >> 16 & 1) != 0},
              sequence{static_cast<uint16_t>(bits)} {}

        constexpr uint64_t bits() const noexcept {
            return units << 17 | uint64_t{tick} << 16 | sequence;
        }
    };

    /// False if the last sno is past the timestamp `mark` already.
    static bool move_past_units(SnoState& state, uint64_t mark) noexcept {
        (void)raise(state.safe, mark);
        uint64_t present = state.word.load(std::memory_order_relaxed);
        while (Word{present}.units <= mark) {
            // The word changes: who has read the safe mark of before has to read it again.
            const Word later{mark + 1, Word{present}.tick, 0};
            if (state.word.compare_exchange_weak(present, later.bits(), std::memory_order_acq_rel))
                return true;
        }
        return false;
    }

    constexpr SnoUse use(const Word& last, uint64_t safe) const noexcept {
        if (last.units == 0) return {.safe = safe};
        // Nothing of this unit was used yet.
        if (last.sequence < sequence_min_) return {last.units - 1, last.tick, sequence_max_, safe};
        return {last.units, last.tick, std::min(last.sequence, sequence_max_), safe};
    }

    static Answer unsafe(int64_t unix_ms, uint64_t safe, int64_t max_lead_ms) noexcept {
        const int64_t safe_again = unix_ms_of(safe + 1);
        if (safe_again - unix_ms > max_lead_ms + patience_ms)
            return {Verdict::refused, {}, safe_again - unix_ms};
        return {Verdict::leads, {}, safe_again};
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

}  // namespace snowdrift
