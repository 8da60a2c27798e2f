// Drawing an ID from a generator: hold its watermark, ask the generator, wait for the clock if
// necessary, and ensure that the mark covers the ID. next_in_block.hpp has ULIDs and UUIDs, which
// draw a block for each transaction.
//
// The rule is the order of these steps. The hold comes before the ID is taken, or a reader could
// pass the ID (sentence 7 of the proof in docs/guarantees.md). The mark is checked after the ID is
// taken and before it is returned (sentence 1): an ID that was taken and is not returned is lost,
// which harms nobody.
//
// In most calls for Snowflakes and sno values, nothing waits and nothing is locked: the handle is
// prepared, the transaction holds the watermark, the state advances by one atomic operation, and
// the word of the mark is past the ID by half of the lease (draw_fast). The others call draw(),
// which prepares the handle, publishes the hold, waits or advances the mark, as necessary. The
// waits can be interrupted.
//
// What can go wrong: the state is replaced between prepare() and the draw, by another session that
// drops and creates the extension again, or resets the clock. The tag of the mark, compared after
// the ID is taken, tells: the ID is discarded, and the draw begins again.
#pragma once

#include <concepts>

#include "pg/draw/attached_slot.hpp"
#include "pg/draw/clock_behind.hpp"
#include "pg/mark/mark.hpp"
#include "pg/slots/waiting.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/postgres.hpp"
#include "pg/watermark/holds.hpp"
#include "pg/watermark/reader.hpp"
#include "protocol/generators.hpp"

namespace snowdrift {

/// What draw() requires of a session's handle of a generator.
template <typename T>
concept GeneratorHandle = requires(T handle, Request& request) {
    typename T::Id;
    // False if prepare() must be called before ask().
    { handle.is_prepared() } -> std::same_as<bool>;
    // Attaches the generator's slot, forgets that its watermark is held, and reads the settings.
    { handle.prepare() } -> std::same_as<void>;
    // Asks the generator for an ID, without waiting.
    { handle.ask(request) } -> std::same_as<Answer<typename T::Id>>;
    { handle.slot() } -> std::same_as<slots::Slot&>;
    // Its watermark, and its begin_unit(): see src/protocol/watermark.hpp.
    { handle.generator() } -> std::same_as<watermark::Generators>;
    { handle.begin_unit() } -> std::same_as<int64_t>;
    // Describes the generator in the log.
    { handle.label() } -> std::same_as<Label>;
};

/// Waits and asks again until an ID is issued, and counts the call as waiting until then. Raises
/// 55000 if the clock prevents that.
template <GeneratorHandle Handle, typename Answer>
pg_noinline Answer wait_for_id(Handle& handle, Answer answer, Request& request) {
    while (answer.verdict == Verdict::stale) answer = handle.ask(request);
    if (answer.verdict == Verdict::issued) return answer;
    Assert(InterruptHoldoffCount == 0 && CritSectionCount == 0);
    waiting::count_while(handle.slot().waiting, [&] {
        for (; answer.verdict != Verdict::issued; answer = handle.ask(request)) {
            switch (answer.verdict) {
                case Verdict::exhausted:
                    record_overflow(handle.slot(), handle.label());
                    [[fallthrough]];
                case Verdict::early:
                case Verdict::clock_behind:
                    wait_for_clock(answer.ms);
                    break;
                case Verdict::stale:
                    break;
                default:
                    report_clock_error(answer.verdict, answer.ms);
            }
        }
    });
    return answer;
}

/// Draws an ID, which the mark on disk covers. Raises the errors of Handle::prepare(), and those of
/// report_clock_error() and mark::cover(). The only lock that remains when it returns is that of a
/// named generator.
template <GeneratorHandle Handle>
pg_noinline auto draw(Handle& handle) {
    for (;;) {
        if (unlikely(!handle.is_prepared())) handle.prepare();
        if (unlikely(!watermark::is_held(handle.generator()))) {
            watermark::Environment<Handle> environment{handle};
            watermark::hold(environment);
        }
        Assert(watermark::is_held(handle.generator()));  // the handle may be outdated again
        Request request;
        auto answer = handle.ask(request);
        if (unlikely(answer.verdict != Verdict::issued))
            answer = wait_for_id(handle, answer, request);
        Assert(answer.verdict == Verdict::issued);
        if (likely(mark::is_covered(answer.ms) || mark::cover(answer.ms))) return answer.id;
    }
}

/// Returns `id`, whose time is `unix_ms`, once the mark covers it; another ID if `id` must be
/// discarded.
template <GeneratorHandle Handle>
pg_noinline auto cover_or_draw(Handle& handle, typename Handle::Id id, int64_t unix_ms) {
    return mark::cover(unix_ms) ? id : draw(handle);
}

/// The same as draw(), but the common case is inlined and has no loop: the last ID is not later
/// than the clock, and its time unit has an ID left, so handle.try_next(unix_ms, id) returns true.
template <GeneratorHandle Handle>
pg_attribute_always_inline auto draw_fast(Handle& handle) {
    if (likely(handle.is_prepared() && watermark::is_held(handle.generator()))) {
        const int64_t now = clock::now_ms();
        typename Handle::Id id;
        if (likely(handle.try_next(now, id)))
            return likely(mark::is_covered(now)) ? id : cover_or_draw(handle, id, now);
    }
    return draw(handle);
}

}  // namespace snowdrift
