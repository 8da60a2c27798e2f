// Drawing an ID from a generator: ask the generator, wait if its answer says so, and ensure that
// the mark covers the ID.
#pragma once

#include <concepts>

#include "core/generator.hpp"
#include "pg/durability/mark.hpp"
#include "pg/generators/clock_error.hpp"
#include "pg/generators/overflow.hpp"
#include "pg/generators/session_slot.hpp"
#include "pg/generators/wait_for_clock.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/postgres.hpp"

extern "C" {
#include "storage/ipc.h"
}

namespace snowdrift {

/// A session's view of a generator, from which draw() draws.
template <typename T>
concept SessionGenerator = requires(T session, Request& request) {
    typename T::Id;
    // Whether prepare() need not be called again.
    { session.is_prepared() } -> std::same_as<bool>;
    // Attaches the generator's state, and reads the settings.
    { session.prepare() } -> std::same_as<void>;
    // Asks the generator once.
    { session.ask(request) } -> std::same_as<Answer<typename T::Id>>;
    { session.slot() } -> std::same_as<slots::Slot&>;
    // For the log.
    { session.label() } -> std::same_as<overflow::Label>;
};

/// One that can issue an ID in the common case without a Request: the last ID is not later than the
/// clock, and its time unit has an ID left.
template <typename T>
concept FastSessionGenerator = SessionGenerator<T> &&
    requires(T session, int64_t unix_ms, typename T::Id& id) {
    { session.try_next(unix_ms, id) } -> std::same_as<bool>;
};

/// Asks again, and waits as the answers say, until one has an ID.
template <SessionGenerator Session, typename Answer>
Answer ask_until_issued(Session& session, Answer answer, Request& request) {
    while (answer.verdict != Verdict::issued) {
        if (answer.verdict == Verdict::exhausted || answer.verdict == Verdict::clock_behind)
            wait_for_clock(answer.ms);
        else if (answer.verdict != Verdict::stale)
            report_clock_error(answer.verdict, answer.ms);
        answer = session.ask(request);
    }
    return answer;
}

/// The same, and counts a used-up sequence as overflow until the wait ends, be it by an error.
template <SessionGenerator Session, typename Answer>
pg_noinline Answer wait_for_id(Session& session, Answer answer, Request& request) {
    while (answer.verdict == Verdict::stale) answer = session.ask(request);
    if (answer.verdict != Verdict::exhausted) return ask_until_issued(session, answer, request);
    slots::Statistics& statistics = session.slot().statistics;
    const bool episode_begins = overflow::begin_wait(statistics);
    PG_ENSURE_ERROR_CLEANUP(overflow::end_wait, PointerGetDatum(&statistics));
    {
        if (episode_begins) overflow::log_episode(session.label());
        answer = ask_until_issued(session, answer, request);
    }
    PG_END_ENSURE_ERROR_CLEANUP(overflow::end_wait, PointerGetDatum(&statistics));
    overflow::end_wait(0, PointerGetDatum(&statistics));
    return answer;
}

/// Draws an ID.
template <SessionGenerator Session>
pg_noinline auto draw(Session& session) {
    for (;;) {
        if (unlikely(!session.is_prepared())) session.prepare();
        Request request;
        auto answer = session.ask(request);
        if (unlikely(answer.verdict != Verdict::issued))
            answer = wait_for_id(session, answer, request);
        if (likely(mark::cover(answer.ms))) return answer.id;
    }
}

/// Returns `id`, of the time `unix_ms`, once the mark is past it; another ID if it must be
/// discarded.
template <SessionGenerator Session>
pg_noinline auto cover_or_draw(Session& session, typename Session::Id id, int64_t unix_ms) {
    return mark::advance(unix_ms) ? id : draw(session);
}

/// The same as draw(), inlined and without the loop in the common case.
template <FastSessionGenerator Session>
pg_attribute_always_inline auto draw_fast(Session& session) {
    if (likely(session.is_prepared())) {
        const int64_t now = clock::now_ms();
        typename Session::Id id;
        if (likely(session.try_next(now, id)))
            return likely(mark::is_covered(now)) ? id : cover_or_draw(session, id, now);
    }
    return draw(session);
}

}  // namespace snowdrift
