// The protocol of the mark, the states and the slots as a state machine: two sessions, and what
// happens to their server. explorer.hpp finds its states.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>

#include "model/draw.hpp"
#include "model/explorer.hpp"

namespace snowdrift::model {

/// What an actor does. `go`: the session's next step.
enum class Choice : uint8_t {
    go,
    cancel,
    draw_again,
    commit,
    abort,
    send,
    insert,
    select,
    block,
    foreign,
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
    "",
    "cancels the wait",
    "draws another ID",
    "commits",
    "aborts",
    "flushes, because data is about to leave",
    "draws an ID in an INSERT",
    "draws an ID in a SELECT",
    "draws an ID in a transaction block",
    "draws an ID in code that may send data itself",
    "drops the extension and creates it again",
    "drops the generator and creates it again",
    "resets the clock: writes the mark",
    "the clock is set forward",
    "the clock is set back",
    "another process flushes a record",
    "the standby receives a record",
    "crash and restart",
    "failover",
};

/// What a session does next, and what it is called in a trace. In the order of Step.
struct StepEntry {
    bool (DrawSteps::*run)();
    const char* name;
};
inline constexpr StepEntry step_table[] = {
    {nullptr, "is idle"},
    {&DrawSteps::prepare, "locks the table of the mark to attach"},
    {&DrawSteps::attach, "compares its tag with the word's"},
    {&DrawSteps::open_to_reconcile, "opens the table, reads the page, and flushes it"},
    {&DrawSteps::reconcile, "compares the file and its writer with the word"},
    {&DrawSteps::carry_over, "carries the known mark over to the page"},
    {&DrawSteps::bind, "binds the word to the file"},
    {&DrawSteps::record_writer, "records the writer on the page"},
    {&DrawSteps::read_floor, "reads the floor of all states"},
    {&DrawSteps::find_slot, "looks up or allocates the slot"},
    {&DrawSteps::advance_state, "advances the state past the floor"},
    {&DrawSteps::ask, "takes an ID from the state"},
    {&DrawSteps::store_state, "stores the state"},
    {&DrawSteps::cover, "compares the ID with the word"},
    {&DrawSteps::begin_advance, "decides whether to advance the mark"},
    {&DrawSteps::open_to_advance, "opens the table, and compares the file and the tag"},
    {&DrawSteps::write_advance, "advances the mark on the page"},
    {&DrawSteps::publish, "advances the word"},
    {&DrawSteps::reread_tag, "reads the tag again"},
    {&DrawSteps::flush, "flushes WAL"},
    {&DrawSteps::confirm, "gets the confirmation of the standby"},
    {&DrawSteps::open_exit, "lets data leave"},
    {&DrawSteps::write_commit, "writes the commit record"},
    {&DrawSteps::show, "makes its rows visible"},
    {&DrawSteps::end_commit, "ends the transaction"},
    {&DrawSteps::reset_word, "resets the word"},
    {&DrawSteps::clear_states, "clears the states"},
};
static_assert(std::size(step_table) == static_cast<size_t>(Step::clear_states) + 1);

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
        s.clock = 5000;
        if (is_named()) s.generator = s.generators = 1;
        for (uint8_t i = 0; i < 2; ++i)
            s.sessions[i] = new_session(scenario_.has_two_libraries ? i : uint8_t{0});
        return s;
    }

    /// Sessions of one library are interchangeable.
    uint64_t hash(const State& s) const {
        if (scenario_.has_two_libraries) return hash_of(s);
        State other = s;
        std::swap(other.sessions[0], other.sessions[1]);
        return std::min(hash_of(s), hash_of(other));
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
            DrawSteps steps{s, action.actor, scenario_, *core_, mutation_};
            if (!act(action.choice, steps, s.sessions[action.actor])) return false;
            violation = steps.violation();
        }
        if (violation == nullptr && !is_word_durable(s))
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
                return std::make_unique<Snowflakes>(ms_layout);
            case Kind::slow_snowflake:
                return std::make_unique<Snowflakes>(s_layout);
            case Kind::ulid:
                return std::make_unique<Blocks>();
            case Kind::sno:
                return std::make_unique<Snos>(mutation_);
        }
        return nullptr;
    }

    static Session new_session(uint8_t library) {
        Session session{};
        session.tag = session.slot_tag = session.deferred.tag = -1;
        session.slot = no_slot;
        session.own_file = no_file;
        session.library = library;
        return session;
    }

    bool allows(Statement statement) const {
        return std::find(scenario_.statements.begin(), scenario_.statements.end(), statement) !=
               scenario_.statements.end();
    }

    bool is_named() const { return allows(Statement::replace_generator); }

    // ---- sessions

    template <typename Visit>
    void visit_choices(const State& s, const Session& session, Visit visit) const {
        if (session.step != Step::idle) {
            visit(Choice::go);
            if (session.step == Step::confirm) visit(Choice::cancel);
            return;
        }
        const bool may_send = scenario_.has_exits || session.statement == Statement::failed;
        if (session.deferred.is_relied_on && may_send) visit(Choice::send);
        if (session.statement == Statement::failed) return;
        if (session.statement != Statement::none) {
            if (s.budget.draws > 0) visit(Choice::draw_again);
            visit(Choice::commit);
            if (scenario_.has_aborts) visit(Choice::abort);
            return;
        }
        for (const Statement statement : scenario_.statements) {
            const bool draws = statement < Statement::replace_extension;
            if ((draws ? s.budget.draws : s.budget.replacements) > 0) visit(begin_of(statement));
        }
    }

    static Choice begin_of(Statement statement) {
        const int offset = static_cast<int>(statement) - static_cast<int>(Statement::insert);
        return static_cast<Choice>(static_cast<int>(Choice::insert) + offset);
    }

    static Statement statement_of(Choice choice) {
        const int offset = static_cast<int>(choice) - static_cast<int>(Choice::insert);
        return static_cast<Statement>(static_cast<int>(Statement::insert) + offset);
    }

    static bool act(Choice choice, DrawSteps& steps, const Session& session) {
        switch (choice) {
            case Choice::go:
                return go(steps, session.step);
            case Choice::cancel:
                return steps.cancel();
            case Choice::draw_again:
                return steps.draw(session.statement);
            case Choice::commit:
                return steps.commit();
            case Choice::abort:
                return steps.abort();
            case Choice::send:
                return steps.flush_exit();
            case Choice::replace_extension:
                return steps.replace_extension();
            case Choice::replace_generator:
                return steps.replace_generator();
            case Choice::reset:
                return steps.reset();
            default:
                return steps.draw(statement_of(choice));
        }
    }

    static bool go(DrawSteps& steps, Step step) {
        const auto run = step_table[static_cast<size_t>(step)].run;
        return (steps.*run)();
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
        s.version = s.allocations = 0;
        s.reset_ms = 0;
        // The server does not know of IDs of an extension that was not committed.
        s.left.remove_if([&](const Id& id) {
            return id.uncommitted_file != no_file && id.uncommitted_file != s.disk.file;
        });
    }

    // ---- invariants

    bool is_word_durable(const State& s) const {
        if (s.version == 0 || s.reset_ms != 0) return true;
        const Memory& memory = s.memory[s.version - 1];
        if (!memory.has_mark || memory.mark[1] == 0) return true;
        const Survivor left = Steps::surviving(s, scenario_);
        return left.pages[memory.mark[1] - 1].ms >= from_unix(word_of(memory).unix_ms());
    }

    /// Makes states equal that do not differ from now on.
    void normalize(State& s) const {
        Disk& disk = s.disk;
        const uint8_t common = scenario_.has_standby ? disk.received : disk.flushed;
        if (common > 0) {
            disk.before = disk.survivor(common);
            std::fill(std::copy(disk.log + common, disk.log + disk.size, disk.log),
                      disk.log + disk.size, Record{});
            const auto move = [common](uint8_t& at) { at -= std::min(at, common); };
            for (uint8_t* const at : {&disk.size, &disk.flushed, &disk.received}) move(*at);
            for (Page& page : disk.pages) move(page.position);
            for (Session& session : s.sessions) {
                move(session.position);
                move(session.deferred.position);
                session.present.position = 0;
            }
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
