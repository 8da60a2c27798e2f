// What the steps of a session share: the scenario, the disk as the session sees it, and the
// invariants.
#pragma once

#include <cstddef>
#include <vector>

#include "core/lease.hpp"
#include "model/generators.hpp"
#include "model/mutation.hpp"
#include "model/server.hpp"

namespace snowdrift::model {

enum class Kind : uint8_t { snowflake, slow_snowflake, ulid, sno };

/// What can happen in the model. Each scenario has the parts of the protocol that one group of
/// sentences is about, because all of them together have too many states.
struct Scenario {
    const char* name;
    Kind kind = Kind::snowflake;
    std::vector<Statement> statements{Statement::insert};  ///< that draw IDs, or replace something
    Budget budget{};
    Ms step_ms = 500;   ///< by which the clock is set forward
    Ms back_ms = 1000;  ///< ... and back
    int64_t max_lead_ms = 60'000;
    bool has_standby = false;      ///< a synchronous one, to which the server may fail over
    bool is_asynchronous = false;  ///< synchronous_commit is off
    bool has_two_libraries = false;
    bool has_aborts = false;
    bool has_exits = false;       ///< data leaves before the commit
    bool has_wal_writer = false;  ///< another process flushes WAL at any time
};

/// A session's view of a state, which its steps change.
class Steps {
 public:
    Steps(State& state, size_t session, const Scenario& scenario, const Generator& generator,
          Mutation mutation)
        : s{state},
          me{state.sessions[session]},
          other{state.sessions[1 - session]},
          memory{state.memory[me.library]},
          scenario{scenario},
          core{generator},
          mutation_{mutation} {}

    /// The invariant that a step has broken; null if none.
    const char* violation() const { return violation_; }

 protected:
    bool has(Mutation mutation) const { return mutation_ == mutation; }

    void expect(bool holds, const char* violation) {
        if (!holds && violation_ == nullptr) violation_ = violation;
    }

    // ---- locks

    bool can_open_table() const { return other.table_lock != Lock::exclusive; }

    bool can_lock_table() const { return other.table_lock == Lock::none && !other.is_attaching; }

    void open_table() {
        if (me.table_lock == Lock::none) me.table_lock = Lock::shared;
        accept_invalidations();
        me.file = me.own_file != no_file ? me.own_file : s.disk.file;
    }

    void close_table() {
        if (me.table_lock == Lock::shared) me.table_lock = Lock::none;
    }

    void accept_invalidations() {
        if (me.is_invalidated) me.tag = -1;
        me.is_invalidated = false;
    }

    // ---- the mark

    Writer writer() const {
        return me.own_file != no_file ? Writer::uncommitted : Writer::generators;
    }

    void write_page(Ms ms, Writer by) {
        if (!s.disk.pages[me.file].has(ms, by)) s.disk.write({ms, me.file, by, false, 0});
    }

    bool is_retired() const { return s.version != me.library + 1; }

    /// Uses the structure of this session's library: see require_structure(). Returns false if it
    /// was retired.
    bool require_structure() {
        const auto version = static_cast<uint8_t>(me.library + 1);
        if (s.version > version) return false;
        if (s.version == version) return true;
        Memory& previous = s.memory[0];
        if (s.version != 0 && previous.has_mark) {
            memory.has_mark = true;
            memory.mark[0] = MarkWord{retire_previous(previous), 0}.bits;
        }
        s.version = version;
        return true;
    }

    bool is_durable(uint8_t position) const {
        return s.disk.flushed >= position &&
               (!scenario.has_standby || has(Mutation::ignore_standby) ||
                s.disk.received >= position);
    }

    /// Goes on with `then` once WAL up to `position` is durable.
    void make_durable(uint8_t position, Step then) {
        if (is_durable(position)) return go_on(then);
        me.position = position;
        me.next = then;
        me.step = s.disk.flushed < position ? Step::flush : Step::confirm;
    }

    /// Ends the wait.
    void go_on(Step then) {
        me.position = 0;
        me.next = Step::idle;
        me.step = then;
    }

    // ---- IDs

    /// The ID leaves the server.
    void leave(const Id& id) {
        if (s.reset_ms != 0 && id.ms > s.reset_ms) return;
        expect(!s.left.has(id) && !other.pending.has(id), "An ID was issued twice.");
        // A crash before the commit of a new extension loses its file.
        const bool is_uncommitted =
            id.uncommitted_file != no_file && id.uncommitted_file != s.disk.file;
        expect(is_uncommitted || surviving(s).mark() >= id.ms,
               "An ID past the mark on disk left the server.");
        s.left.add(id);
    }

    void release_pending() {
        for (const Id& id : me.pending) leave(id);
        me.pending = {};
    }

    /// After snowdrift.reset_clock(), IDs of times later than `ms` may be repeated.
    void forgive_later_than(Ms ms) {
        const auto is_later = [ms](const Id& id) { return id.ms > ms; };
        s.left.remove_if(is_later);
        me.pending.remove_if(is_later);
        other.pending.remove_if(is_later);
    }

    /// The latest time of an ID that has left the server, or will.
    Ms latest_id() const {
        Ms latest = 0;
        for (const Id& id : s.left) latest = std::max(latest, id.ms);
        for (const Session& session : s.sessions)
            for (const Id& id : session.pending) latest = std::max(latest, id.ms);
        return latest;
    }

 public:
    /// What a crash or a failover leaves.
    static Survivor surviving(const State& state, const Scenario& scenario) {
        return state.disk.survivor(scenario.has_standby ? state.disk.received : state.disk.flushed);
    }

 protected:
    Survivor surviving(const State& state) const { return surviving(state, scenario); }

    State& s;
    Session& me;
    Session& other;
    Memory& memory;
    const Scenario& scenario;
    const Generator& core;

 private:
    int64_t retire_previous(Memory& previous) const {
        const uint64_t word = previous.mark[0];
        SharedMark mark{previous};
        const int64_t unix_ms = retire(mark.word, mark.written_ms);
        if (has(Mutation::retire_keeps_tag)) mark.word = word;
        if (has(Mutation::retire_forgets_advance)) return MarkWord{word}.unix_ms();
        return has(Mutation::retire_forgets_mark) ? 0 : unix_ms;
    }

    Mutation mutation_;
    const char* violation_ = nullptr;
};

}  // namespace snowdrift::model
