// A model of the watermark: two writers and a reader, which run src/protocol/watermark.hpp, and a
// line for prepared transactions. Each call that reads or changes shared data is a step. The
// generators are the extension's own; the lines of holds are repeated here, with an exact history.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "model/explorer.hpp"
#include "model/watermark_session.hpp"
#include "model/watermark_state.hpp"

namespace snowdrift::watermark::model {

class Watermark {
 public:
    using State = model::State;
    using Action = model::Action;

    Watermark(const Budget& budget, Mutation mutation) : budget_{budget}, mutation_{mutation} {}

    State initial() const {
        State s{};
        s.budget = budget_;
        s.clock = 10;
        s.transactions = 1;
        std::fill_n(s.lowest, std::size(s.lowest), never);
        for (Session& session : s.sessions) session.drawn = never;
        return s;
    }

    uint64_t hash(const State& s) const { return snowdrift::model::hash_of(s); }

    template <typename Visit>
    void visit_successors(const State& state, Visit visit) const {
        for (uint8_t actor = 0; actor <= server; ++actor)
            for (size_t i = 0; i < std::size(choice_names); ++i) {
                const Action action{actor, static_cast<Choice>(i)};
                State next = state;
                const char* violation = nullptr;
                if (apply(action, next, violation)) visit(action, next, violation);
            }
    }

    /// Changes the state. Returns false if the action is not possible. Sets `violation` if the
    /// action breaks an invariant.
    bool apply(Action action, State& s, const char*& violation) const {
        if (action.actor == server) {
            if (!happen(action.choice, s, mutation_)) return false;
        } else {
            Turn turn{s, action.actor, mutation_};
            if (!turn.act(action.choice)) return false;
            violation = turn.violation();
        }
        normalize(s);
        return true;
    }

 private:
    static bool happen(Choice choice, State& s, Mutation mutation) {
        if (choice == Choice::crash) {
            if (s.budget.crashes == 0 || s.prepared != 0) return false;
            --s.budget.crashes;
            Turn::crash(s, mutation);
            return true;
        }
        const bool is_step = choice == Choice::clock_forward || choice == Choice::clock_back;
        if (is_step) {
            if (s.budget.clock_steps == 0) return false;
            --s.budget.clock_steps;
            s.clock += choice == Choice::clock_forward ? 2 : -2;
            return true;
        }
        const bool is_end =
            choice == Choice::commit_prepared || choice == Choice::roll_back_prepared;
        // PREPARE TRANSACTION locks the prepared transaction until it has moved the hold.
        const bool is_locked =
            std::any_of(s.sessions, s.sessions + reader,
                        [&](const Session& each) { return each.transaction == s.prepared; });
        if (!is_end || s.prepared == 0 || is_locked) return false;
        s.ended |= static_cast<uint8_t>(1 << s.prepared);
        if (choice == Choice::roll_back_prepared) s.lowest[s.prepared] = never;
        s.prepared = 0;
        return true;
    }

    /// Makes states equal that do not differ from now on: no snapshot takes these transactions to
    /// be in progress.
    static void normalize(State& s) {
        const Session& read = s.sessions[reader];
        const uint8_t over =
            read.phase == Phase::read ? static_cast<uint8_t>(read.snapshot & s.ended) : s.ended;
        const auto is_over = [over](uint8_t transaction) { return (over >> transaction & 1) != 0; };
        for (uint8_t i = 1; i < s.transactions; ++i)
            if (is_over(i)) s.lowest[i] = never;
        for (Line& line : s.lines) {
            for (Held& held : line.earlier)
                if (is_over(held.transaction)) held = {};
            if (line.last.transaction != 0 && is_over(line.last.transaction)) line = {};
        }
    }

    Budget budget_;
    Mutation mutation_;
};

}  // namespace snowdrift::watermark::model
