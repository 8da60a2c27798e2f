// The protocol of the mark, the states and the slots as a state machine: two sessions, and what
// happens to their server. explorer.hpp finds its states.
#pragma once

#include <cstddef>
#include <cstring>
#include <iterator>
#include <memory>
#include <utility>

#include "model/explorer.hpp"
#include "model/session.hpp"

namespace snowdrift::model {

/// What an actor does. `go`: the session's next step.
enum class Choice : uint8_t {
    go,
    cancel,
    fail,
    draw,
    commit,
    abort,
    replace_extension,
    replace_generator,
    reset,
    clock_forward,
    clock_back,
    flush_wal,
    send_wal,
    crash,
    fail_over,
};

/// What each Choice is called in a trace.
inline constexpr const char* choice_names[] = {
    "takes a step",
    "cancels the wait",
    "fails",
    "draws an ID",
    "commits",
    "aborts",
    "drops the extension and creates it again",
    "drops the generator and creates it again",
    "resets the clock",
    "the clock is set forward",
    "the clock is set back",
    "another process flushes a record",
    "the standby receives a record",
    "crash and restart",
    "failover",
};

/// What each Phase is called in a trace.
inline constexpr const char* phase_names[] = {
    "idle",        "locks the table", "attaches the state", "attaches the mark",
    "takes an ID", "compares it",     "advances the mark",  "commits",
    "resets",
};

struct Action {
    uint8_t actor;  ///< a session, or `server`
    Choice choice;
};
inline constexpr uint8_t server = 2;

class Protocol {
 public:
    using State = model::State;
    using Action = model::Action;

    Protocol(const Scenario& scenario, Mutation mutation)
        : scenario_{scenario}, mutation_{mutation}, core_{make_generator()} {}

    /// The extension has been created, and the server has just started.
    State initial() const {
        State s{};
        s.disk.next_file = 1;
        s.budget = scenario_.budget;
        s.clock = 10 * lease_ms;
        if (allows(Statement::replace_generator)) s.generator = s.generators = 1;
        for (uint8_t i = 0; i < 2; ++i)
            s.sessions[i] = new_session(scenario_.has_two_libraries ? i : uint8_t{0});
        return s;
    }

    /// Sessions of one library are interchangeable.
    uint64_t hash(const State& s) const {
        if (scenario_.has_two_libraries ||
            std::memcmp(&s.sessions[0], &s.sessions[1], sizeof(Session)) <= 0)
            return hash_of(s);
        State other = s;
        std::swap(other.sessions[0], other.sessions[1]);
        return hash_of(other);
    }

    template <typename Visit>
    void visit_successors(const State& state, Visit visit) const {
        const auto try_action = [&](uint8_t actor, Choice choice) {
            State next = state;
            const char* violation = nullptr;
            if (apply({actor, choice}, next, violation))
                visit(Action{actor, choice}, next, violation);
        };
        for (uint8_t actor = 0; actor < server; ++actor)
            visit_choices(state, state.sessions[actor],
                          [&](Choice choice) { try_action(actor, choice); });
        for (const Choice choice : {Choice::clock_forward, Choice::clock_back, Choice::flush_wal,
                                    Choice::send_wal, Choice::crash, Choice::fail_over})
            try_action(server, choice);
    }

    /// Changes the state. Returns false if the action is not possible. Sets `violation` if the
    /// action breaks an invariant.
    bool apply(Action action, State& s, const char*& violation) const {
        if (action.actor == server) {
            if (!happen(action.choice, s)) return false;
        } else {
            Turn turn{s, action.actor, scenario_, *core_, mutation_};
            if (!act(action.choice, turn)) return false;
            violation = turn.violation();
        }
        if (violation == nullptr && !are_words_durable(s))
            violation = "Other sessions can rely on a mark that is not durable.";
        normalize(s);
        return true;
    }

 private:
    std::unique_ptr<Generator> make_generator() const {
        constexpr SnowflakeLayout ms_layout = presets::snowflake;
        constexpr SnowflakeLayout s_layout{.epoch_unix_ms = ms_layout.epoch_unix_ms,
                                           .timestamp_bits = 35,
                                           .datacenter_bits = 5,
                                           .worker_bits = 5,
                                           .sequence_bits = 12,
                                           .unit_ms = 1000};
        switch (scenario_.kind) {
            case Kind::snowflake:
                return std::make_unique<Snowflakes>(ms_layout, SnowflakeGenerator::Start::least);
            case Kind::slow_snowflake:
                return std::make_unique<Snowflakes>(s_layout, SnowflakeGenerator::Start::spread);
            case Kind::ulid:
                return std::make_unique<Blocks>();
            case Kind::sno:
                return std::make_unique<Snos>(mutation_);
        }
        return nullptr;
    }

    static Session new_session(uint8_t library) {
        Session session{};
        session.tag = session.slot_tag = -1;
        session.slot = no_slot;
        session.own_file = no_file;
        session.library = library;
        return session;
    }

    bool allows(Statement statement) const {
        return std::find(scenario_.statements.begin(), scenario_.statements.end(), statement) !=
               scenario_.statements.end();
    }

    // ---- sessions

    template <typename Visit>
    void visit_choices(const State& s, const Session& session, Visit visit) const {
        if (session.phase != Phase::idle) {
            visit(Choice::go);
            if (session.is_waiting) visit(Choice::cancel);
            // An extension that is dropped after a reset has failed loses its mark, as documented.
            if (session.phase == Phase::reset && !allows(Statement::replace_extension))
                visit(Choice::fail);
            return;
        }
        const bool may_draw = s.budget.draws > 0;
        if (session.statement != Statement::none) {
            if (may_draw) visit(Choice::draw);
            visit(Choice::commit);
            if (scenario_.has_aborts) visit(Choice::abort);
            return;
        }
        for (const Statement statement : scenario_.statements) {
            const bool draws = statement == Statement::draw;
            if (draws ? may_draw : s.budget.replacements > 0) visit(begin_of(statement));
        }
    }

    static Choice begin_of(Statement statement) {
        switch (statement) {
            case Statement::replace_extension:
                return Choice::replace_extension;
            case Statement::replace_generator:
                return Choice::replace_generator;
            case Statement::reset:
                return Choice::reset;
            default:
                return Choice::draw;
        }
    }

    static bool act(Choice choice, Turn& turn) {
        switch (choice) {
            case Choice::cancel:
                return turn.cancel();
            case Choice::fail:
                return turn.fail();
            case Choice::draw:
                return turn.draw();
            case Choice::commit:
                return turn.begin_commit();
            case Choice::abort:
                return turn.abort();
            case Choice::replace_extension:
                return turn.replace_extension();
            case Choice::replace_generator:
                return turn.replace_generator();
            case Choice::reset:
                return turn.reset();
            default:
                return turn.go();
        }
    }

    // ---- the server

    bool happen(Choice choice, State& s) const {
        const auto spend = [](uint8_t& budget) { return budget > 0 && budget-- > 0; };
        Disk& disk = s.disk;
        switch (choice) {
            case Choice::clock_forward:
                if (!spend(s.budget.clock_steps)) return false;
                s.clock += scenario_.step_ms;
                return true;
            case Choice::clock_back:
                if (!spend(s.budget.clock_steps)) return false;
                s.clock -= scenario_.back_ms;
                return true;
            case Choice::flush_wal:  // by another process
                if (!scenario_.has_wal_writer || disk.flushed == disk.size) return false;
                ++disk.flushed;
                return true;
            case Choice::send_wal:
                if (!scenario_.has_standby || disk.received == disk.flushed) return false;
                ++disk.received;
                return true;
            case Choice::crash:
                if (!spend(s.budget.crashes)) return false;
                restart(s, disk.flushed);
                return true;
            default:  // fail_over
                if (!scenario_.has_standby || !spend(s.budget.crashes)) return false;
                restart(s, disk.received);
                return true;
        }
    }

    /// Continues from the first `position` records of the WAL, without shared memory.
    static void restart(State& s, uint8_t position) {
        s.disk.recover(position);
        std::fill_n(s.memory, 2, Memory{});
        for (Session& session : s.sessions) session = new_session(session.library);
        s.allocations = 0;
        // The server does not know of IDs of an extension that was not committed.
        s.left.remove_if([&](const Id& id) {
            return id.uncommitted_file != no_file && id.uncommitted_file != s.disk.file;
        });
    }

    // ---- invariants

    bool are_words_durable(const State& s) const {
        const Survivor left = Turn::surviving(s, scenario_);
        return std::all_of(std::begin(s.memory), std::end(s.memory), [&](const Memory& memory) {
            const uint64_t file = memory.mark[3];
            return file == 0 || left.pages[file - 1].row.unix_ms >= word_of(memory).unix_ms();
        });
    }

    /// Makes states equal that do not differ from now on.
    void normalize(State& s) const {
        Disk& disk = s.disk;
        const uint8_t common = scenario_.has_standby ? disk.received : disk.flushed;
        if (common > 0) {
            disk.before = disk.survivor(common);
            std::fill(std::copy(disk.log + common, disk.log + disk.size, disk.log),
                      disk.log + disk.size, Record{});
            const auto move = [common](auto& at) { at -= std::min<decltype(at + 0)>(at, common); };
            for (uint8_t* const at : {&disk.size, &disk.flushed, &disk.received}) move(*at);
            for (Page& page : disk.pages) move(page.position);
            for (Memory& memory : s.memory) move(memory.mark[2]);
            for (Session& session : s.sessions)
                for (size_t i = 0; i < session.log_size; ++i)
                    if ((session.positions_in_log >> i & 1) != 0) move(session.log[i]);
        }
        for (uint8_t i = 0; i < s.left.count; ++i)
            if (s.left.ids[i].uncommitted_file == disk.before.file)
                s.left.ids[i].uncommitted_file = no_file;
        s.left.sort();
    }

    const Scenario& scenario_;
    Mutation mutation_;
    std::unique_ptr<Generator> core_;
};

}  // namespace snowdrift::model
