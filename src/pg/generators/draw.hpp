// How a session draws an ID from a generator: ask, wait as the answer says, and make sure that the
// mark covers what was issued.
#pragma once

#include "core/generator.hpp"
#include "pg/durability/mark.hpp"
#include "pg/generators/overflow.hpp"
#include "pg/generators/session_slot.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/postgres.hpp"

extern "C" {
#include "storage/ipc.h"
}

namespace snowdrift {

/// Raises the error that a generator's answer stands for: 55000, the clock.
[[noreturn]] void refuse(Verdict verdict, int64_t ms);

/// Asks again, and waits as the answers say, until one is an ID.
template <typename Session, typename Answer>
Answer ask_until_issued(Session& session, Answer answer, Request& request) {
    while (answer.verdict != Verdict::issued) {
        if (answer.verdict == Verdict::exhausted || answer.verdict == Verdict::leads)
            clock::rest_until(answer.ms);
        else if (answer.verdict != Verdict::stale)
            refuse(answer.verdict, answer.ms);
        answer = session.ask(request);
    }
    return answer;
}

/// The same, where a used-up sequence counts as overflow, however the wait ends.
template <typename Session, typename Answer>
pg_noinline Answer wait_for_id(Session& session, Answer answer, Request& request) {
    while (answer.verdict == Verdict::stale) answer = session.ask(request);
    if (answer.verdict != Verdict::exhausted) return ask_until_issued(session, answer, request);
    slots::Statistics& statistics = session.slot().statistics;
    const bool episode_begins = overflow::begin_wait(statistics);
    PG_ENSURE_ERROR_CLEANUP(overflow::end_wait, PointerGetDatum(&statistics));
    {
        if (episode_begins) overflow::log_episode(session.name());
        answer = ask_until_issued(session, answer, request);
    }
    PG_END_ENSURE_ERROR_CLEANUP(overflow::end_wait, PointerGetDatum(&statistics));
    overflow::end_wait(0, PointerGetDatum(&statistics));
    return answer;
}

/// Draws an ID. A session's generator has is_prepared(), prepare(), ask(Request&), slot() and
/// name(), the latter for the log.
template <typename Session>
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

/// Returns an ID of the time `unix_ms`, or another one, when the mark is past it.
template <typename Session>
pg_noinline auto raise_for(Session& session, typename Session::Id id, int64_t unix_ms) {
    return mark::raise(unix_ms) ? id : draw(session);
}

/// draw() for a generator that has an Id and try_next(unix_ms, Id&): straight through where the
/// last ID is not later than the clock, there is another one at once, and the mark covers it.
template <typename Session>
pg_attribute_always_inline auto draw_at_once(Session& session) {
    if (likely(session.is_prepared())) {
        const int64_t now = clock::now_ms();
        typename Session::Id id;
        if (likely(session.try_next(now, id)))
            return likely(mark::is_covered(now)) ? id : raise_for(session, id, now);
    }
    return draw(session);
}

}  // namespace snowdrift
