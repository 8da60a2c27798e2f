// Drawing an ID from a generator: hold its watermark, ask the generator, wait for the clock if
// necessary, and ensure that the mark covers the ID. next_in_block.hpp has ULIDs and UUIDs, which
// draw a block for each transaction.
//
// The rule is the order of these steps. The hold comes before the ID is taken, or a reader could
// pass the ID (sentence 7 of the proof in docs/guarantees.md). The mark is checked after the ID is
// taken and before it is returned (sentence 1): an ID that was taken and is not returned is lost,
// which harms nobody.
//
// In most calls for Snowflakes and sno values, nothing waits and nothing is locked: the session is
// prepared, the transaction holds the watermark, the state advances by one atomic operation, and
// the word of the mark is past the ID by half of the lease (draw_fast). The others call draw(),
// which prepares the session, publishes the hold, waits or advances the mark, as necessary. The
// waits can be interrupted.
//
// What can go wrong: the state is replaced between prepare() and the draw, by another session that
// drops and creates the extension again, or resets the clock. The tag of the mark, compared after
// the ID is taken, tells: the ID is discarded, and the draw begins again.
#pragma once

#include <concepts>

#include "pg/draw/clock_behind.hpp"
#include "pg/draw/overflow.hpp"
#include "pg/draw/session_slot.hpp"
#include "pg/mark/mark.hpp"
#include "pg/slots/waiting.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/postgres.hpp"
#include "pg/watermark/holds.hpp"
#include "pg/watermark/reader.hpp"
#include "protocol/generators.hpp"

namespace snowdrift {

/// A session's view of a generator, as draw() needs it.
template <typename T>
concept SessionGenerator = requires(T session, Request& request) {
    typename T::Id;
    // False if prepare() must be called before ask().
    { session.is_prepared() } -> std::same_as<bool>;
    // Attaches the generator's slot, forgets that its watermark is held, and reads the settings.
    { session.prepare() } -> std::same_as<void>;
    // Asks the generator for an ID, without waiting.
    { session.ask(request) } -> std::same_as<Answer<typename T::Id>>;
    { session.slot() } -> std::same_as<slots::Slot&>;
    // Its watermark, and its begin_unit(): see src/protocol/watermark.hpp.
    { session.generator() } -> std::same_as<watermark::Generators>;
    { session.begin_unit() } -> std::same_as<int64_t>;
    // Describes the generator in the log.
    { session.label() } -> std::same_as<overflow::Label>;
};

/// Waits and asks again until an ID is issued, and counts the call as waiting until then. Raises
/// 55000 if the clock prevents that.
template <SessionGenerator Session, typename Answer>
pg_noinline Answer wait_for_id(Session& session, Answer answer, Request& request) {
    while (answer.verdict == Verdict::stale) answer = session.ask(request);
    if (answer.verdict == Verdict::issued) return answer;
    waiting::count_while(session.slot().statistics.waiting, [&] {
        for (; answer.verdict != Verdict::issued; answer = session.ask(request)) {
            switch (answer.verdict) {
                case Verdict::exhausted:
                    overflow::record(session.slot().statistics, session.label());
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

/// Draws an ID, which the mark on disk covers.
template <SessionGenerator Session>
pg_noinline auto draw(Session& session) {
    for (;;) {
        if (unlikely(!session.is_prepared())) session.prepare();
        if (unlikely(!watermark::is_held(session.generator()))) {
            watermark::Environment<Session> environment{session};
            watermark::hold(environment);
        }
        Request request;
        auto answer = session.ask(request);
        if (unlikely(answer.verdict != Verdict::issued))
            answer = wait_for_id(session, answer, request);
        if (likely(mark::is_covered(answer.ms) || mark::advance(answer.ms))) return answer.id;
    }
}

/// Returns `id`, whose time is `unix_ms`, once the mark covers it; another ID if `id` must be
/// discarded.
template <SessionGenerator Session>
pg_noinline auto cover_or_draw(Session& session, typename Session::Id id, int64_t unix_ms) {
    return mark::advance(unix_ms) ? id : draw(session);
}

/// The same as draw(), but the common case is inlined and has no loop: the last ID is not later
/// than the clock, and its time unit has an ID left, so session.try_next(unix_ms, id) returns true.
template <SessionGenerator Session>
pg_attribute_always_inline auto draw_fast(Session& session) {
    if (likely(session.is_prepared() && watermark::is_held(session.generator()))) {
        const int64_t now = clock::now_ms();
        typename Session::Id id;
        if (likely(session.try_next(now, id)))
            return likely(mark::is_covered(now)) ? id : cover_or_draw(session, id, now);
    }
    return draw(session);
}

}  // namespace snowdrift
