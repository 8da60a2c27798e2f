// The environment of the protocol in the model: a session of the extension's own code, in which
// each call that reads or changes what sessions share is a step.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "model/mutation.hpp"
#include "model/replay.hpp"
#include "model/server.hpp"
#include "protocol/mark_protocol.hpp"

namespace snowdrift::model {

enum class Kind : uint8_t { snowflake, slow_snowflake, ulid, sno };

/// What can happen in the model. Each scenario has the parts of the protocol that one group of
/// sentences is about, because all of them together have too many states.
struct Scenario {
    const char* name;
    Kind kind = Kind::snowflake;
    std::vector<Statement> statements{Statement::draw};
    Budget budget{};
    Ms step_ms = lease_ms;      ///< by which the clock is set forward
    Ms back_ms = 2 * lease_ms;  ///< ... and back
    int64_t max_lead_ms = 60'000;
    bool has_standby = false;      ///< a synchronous one, to which the server may fail over
    bool is_asynchronous = false;  ///< commits do not flush
    bool has_two_libraries = false;
    bool has_aborts = false;
    bool has_wal_writer = false;  ///< another process flushes WAL at any time
};

/// The environment of src/protocol/mark_protocol.hpp in one session, for one step.
class Environment : protected Replay<Session> {
 public:
    Environment(State& state, size_t session, const Scenario& own_scenario, Mutation mutation)
        : Replay{state.sessions[session]},
          s{state},
          me{state.sessions[session]},
          other{state.sessions[1 - session]},
          memory{state.memory[me.library]},
          scenario{own_scenario},
          tag_{me.tag},
          mutation_{mutation} {}

    using Row = model::Row;

    int& tag() { return tag_; }
    int64_t now_ms() {
        return to_unix(static_cast<Ms>(free_step([&] { return s.clock; })));
    }
    int32_t structure() const { return me.library + 1; }

    void open() {
        const auto can_open = [&] { return other.table_lock != Lock::exclusive; };
        const bool is_invalidated = step(can_open, [&] {
            if (me.table_lock == Lock::none) me.table_lock = Lock::shared;
            return std::exchange(me.is_invalidated, false);
        });
        if (is_invalidated) tag_ = -1;
    }

    void close() {
        (void)free_step([&] {
            if (me.table_lock == Lock::shared) me.table_lock = Lock::none;
            return 0;
        });
        is_closed_ = true;
    }

    Writer writer() const {
        if (has(Mutation::skip_commit_of_extension)) return Writer::generators;
        return me.own_file != no_file ? Writer::uncommitted : Writer::generators;
    }

    mark_protocol::Page<Row> lock_page() {
        const auto can_lock = [&] { return !other.has_page_lock; };
        (void)step(can_lock, [&] {
            me.has_page_lock = !has(Mutation::unlocked_page);
            return 0;
        });
        mark_protocol::Page<Row> found;
        found.row.unix_ms = free_step([&] { return page().row.unix_ms; });
        found.row.writer =
            Writer{static_cast<int>(free_step([&] { return int(page().row.writer); }))};
        found.row.structure = static_cast<int32_t>(free_step([&] { return page().row.structure; }));
        if (has(Mutation::ignore_structure))
            found.row.structure = std::min(found.row.structure, structure());
        found.position = free_position([&] { return page().position; });
        return found;
    }

    uint64_t write(const Row& row) {
        has_written_ = true;
        return position_step([&] {
            Row written = row;
            if (has(Mutation::lease_ignores_id) && me.phase == Phase::advance)
                written.unix_ms = std::min(row.unix_ms, to_unix(s.clock) + lease_ms);
            if (written != page().row) s.disk.write({written, file(), false, {}});
            return page().position;
        });
    }

    void unlock_page() {
        (void)free_step([&] {
            me.has_page_lock = false;
            return 0;
        });
    }

    void flush(uint64_t position) {
        if (has(Mutation::trust_writer)) return;
        (void)step(always, [&] {
            s.disk.flush(static_cast<uint8_t>(position));
            return 0;
        });
    }

    void make_durable(uint64_t position) {
        if (me.phase == Phase::advance) {
            if (has(Mutation::return_before_flush)) return;
            if (has(Mutation::trust_page) && !has_written_) return;
        }
        (void)step(always, [&] {
            s.disk.flush(static_cast<uint8_t>(position));
            me.is_waiting = must_wait_for_standby() && s.disk.received < position;
            return 0;
        });
        if (!must_wait_for_standby()) return;
        const auto is_confirmed = [&] { return s.disk.received >= position; };
        (void)step(is_confirmed, [&] { return me.is_waiting = false; });
    }

    bool is_durable(uint64_t position) {
        if (has(Mutation::publish_unflushed) && me.phase == Phase::advance) return true;
        return step(always, [&] {
                   return s.disk.flushed >= position &&
                          (!must_wait_for_standby() || s.disk.received >= position);
               }) != 0;
    }

    void flush_later(uint64_t) {}
    bool is_writable() const { return true; }

    MarkWord load() {
        const MarkWord word{static_cast<uint64_t>(step(always, [&] { return memory.mark[0]; }))};
        if (me.phase != Phase::advance)
            return has(Mutation::new_file_starts_at_zero) ? MarkWord{0, word.tag()} : word;
        const bool ignores_tag =
            has(Mutation::draw_ignores_tag) || (has(Mutation::advance_ignores_tag) && is_closed_);
        return ignores_tag ? MarkWord{word.unix_ms(), static_cast<uint16_t>(me.tag)} : word;
    }

    MarkWord load_written() {
        return MarkWord{static_cast<uint64_t>(step(always, [&] { return memory.mark[1]; }))};
    }

    uint64_t written_position() {
        return position_step([&] { return memory.mark[2]; });
    }

    void record_written(MarkWord mark, uint64_t position) {
        const auto set_position = [&] { return memory.mark[2] = position; };
        const auto set_mark = [&] { return memory.mark[1] = mark.bits; };
        if (has(Mutation::mark_before_position)) {
            (void)step(always, set_mark);
            (void)position_step(set_position);
        } else {
            (void)position_step(set_position);
            (void)step(always, set_mark);
        }
    }

    void publish(MarkWord mark) {
        (void)step(always, [&] {
            SharedMark present{memory};
            const bool is_retagged = has(Mutation::publish_under_another_tag);
            present.publish({mark.unix_ms(), is_retagged ? present.load().tag() : mark.tag()});
            return 0;
        });
    }

    bool is_bound() {
        return free_step([&] { return memory.mark[3] == file_number(); }) != 0;
    }

    bool bind(int64_t unix_ms) {
        return step(always, [&] {
                   SharedMark mark{memory};
                   if (has(Mutation::new_file_starts_at_zero)) mark.reset();
                   return mark.bind(file_number(), unix_ms);
               }) != 0;
    }

    [[noreturn]] void report_replaced() { leave(End::failed); }

 protected:
    bool has(Mutation mutation) const { return mutation_ == mutation; }

    // ---- steps

    template <typename Run>
    uint64_t position_step(Run run) {
        const uint64_t position = static_cast<uint64_t>(step(always, run));
        me.positions_in_log |= uint32_t{1} << last_position();
        return position;
    }

    template <typename Run>
    uint64_t free_position(Run run) {
        const uint64_t position = static_cast<uint64_t>(free_step(run));
        me.positions_in_log |= uint32_t{1} << last_position();
        return position;
    }

    /// Ends the phase.
    void enter(Phase phase) {
        clear_log();
        me.positions_in_log = 0;
        me.phase = phase;
    }

    // ---- the session's view of the server

    uint8_t file() const { return me.own_file != no_file ? me.own_file : s.disk.file; }
    Page& page() { return s.disk.pages[file()]; }

    /// The number of the opened file in shared memory, where 0 is none.
    uint64_t file_number() const { return uint64_t{file()} + 1; }

    bool must_wait_for_standby() const {
        return scenario.has_standby && !has(Mutation::ignore_standby);
    }

    State& s;
    Session& me;
    Session& other;
    Memory& memory;
    const Scenario& scenario;
    int tag_;

 private:
    Mutation mutation_;
    bool is_closed_ = false;    // the table, in this phase
    bool has_written_ = false;  // in this phase
};

}  // namespace snowdrift::model
