// What the sessions of the model do. A session draws with the protocol of the extension itself: it
// is the environment of src/protocol/mark_protocol.hpp, and each call of this environment that
// reads or changes what sessions share is a step.
//
// A session has no stack between its steps. It starts its phase again, takes the results of earlier
// steps from its log, takes one more step, and suspends the phase.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "model/generators.hpp"
#include "model/mutation.hpp"
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

class Turn {
 public:
    Turn(State& state, size_t session, const Scenario& scenario, const Generator& generator,
         Mutation mutation)
        : s{state},
          me{state.sessions[session]},
          other{state.sessions[1 - session]},
          memory{state.memory[me.library]},
          scenario{scenario},
          core{generator},
          mutation_{mutation},
          tag_{me.tag} {}

    /// The invariant that the step has broken; null if none.
    const char* violation() const { return violation_; }

    // ---- what a session can do. Each returns false if it is not possible now.

    /// Takes the next step of the phase.
    bool go() {
        try {
            run_phase();
            me.tag = tag_;
        } catch (const Suspended&) {
        } catch (const Blocked&) {
            return false;
        } catch (const Failed&) {
            return abort();
        }
        return true;
    }

    /// Begins a draw, and the transaction if there is none: see next_in_block() and draw().
    bool draw() {
        if (me.statement == Statement::none) {
            accept_invalidations();
            me.tag = tag_;
            me.statement = Statement::draw;
        }
        if (s.generators != 0) {
            if (other.generator_lock == Lock::exclusive) return false;
            me.generator_lock = std::max(me.generator_lock, Lock::shared);
        }
        const uint8_t generator = me.own_generator != 0 ? me.own_generator : s.generator;
        if (me.generator != generator) me.slot = no_slot;
        me.generator = generator;

        --s.budget.draws;
        if (me.has_block &&
            (word_of(memory).tag() == me.slot_tag || has(Mutation::block_outlives_mark))) {
            ++me.id.detail;
            return return_id();
        }
        expect(!me.has_block || scenario.budget.replacements > 0 || scenario.has_two_libraries,
               "A transaction has two blocks, of two times.");
        me.has_block = false;
        me.is_drawing = true;
        enter(is_prepared() ? Phase::take : Phase::prepare);
        return true;
    }

    bool begin_commit() {
        enter(Phase::commit);
        return true;
    }

    bool abort() {
        if (me.own_file != no_file) me.tag = -1;
        if (me.own_generator != 0) {
            if (!has(Mutation::rollback_keeps_floor)) advance_fresh_floor();
            release_slot(me.own_generator);
            if (!has(Mutation::rollback_keeps_state)) advance_slot(s.generator);
        }
        end_transaction();
        return true;
    }

    /// The wait for the standby is canceled. PostgreSQL only warns if a commit waits.
    bool cancel() {
        if (me.phase != Phase::commit && !has(Mutation::ignore_canceled_wait)) return abort();
        me.is_waiting = false;
        (void)record(0);
        return true;
    }

    /// DROP EXTENSION and CREATE EXTENSION: a new file, which the install script attaches.
    bool replace_extension() {
        const bool is_mark_known = memory.mark[0] != 0 || memory.mark[3] != 0;
        if (!can_lock_table() || !is_mark_known) return false;
        --s.budget.replacements;
        accept_invalidations();
        me.table_lock = Lock::exclusive;
        me.statement = Statement::replace_extension;
        me.own_file = s.disk.next_file++;
        s.disk.write({Row{}, me.own_file, false, {}});
        me.tag = -1;
        enter(Phase::attach);
        return true;
    }

    /// drop_generator() and create_generator() of the same name: see definitions::invalidate().
    bool replace_generator() {
        if (other.generator_lock != Lock::none) return false;
        --s.budget.replacements;
        accept_invalidations();
        me.tag = tag_;
        me.generator_lock = Lock::exclusive;
        me.statement = Statement::replace_generator;
        me.own_generator = ++s.generators;
        if (!has(Mutation::drop_keeps_floor)) advance_fresh_floor();
        return true;
    }

    /// snowdrift.reset_clock(): see mark::reset().
    bool reset() {
        const int64_t latest_ms = to_unix(s.clock) + scenario.max_lead_ms + lease_ms;
        const Row& row = s.disk.pages[s.disk.file].row;
        if (!can_lock_table() || row.unix_ms <= latest_ms || row.structure > structure())
            return false;
        --s.budget.replacements;
        me.statement = Statement::reset;
        me.table_lock = Lock::exclusive;
        enter(Phase::reset);
        return true;
    }

    // ---- the environment of the protocol

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

    [[noreturn]] void report_replaced() { throw Failed{}; }

 private:
    struct Suspended {};
    struct Blocked {};
    struct Failed {};

    static bool always() { return true; }

    bool has(Mutation mutation) const { return mutation_ == mutation; }

    void expect(bool holds, const char* violation) {
        if (!holds && violation_ == nullptr) violation_ = violation;
    }

    // ---- steps

    template <typename Result>
    int64_t record(Result result) {
        if (me.log_size == std::size(me.log)) std::abort();
        ++at_;
        return me.log[me.log_size++] = static_cast<int64_t>(result);
    }

    /// The result of `run`, which changes or reads what sessions share, once `can` allows it.
    template <typename Can, typename Run>
    int64_t step(Can can, Run run) {
        if (at_ < me.log_size) return me.log[at_++];
        if (has_stepped_) throw Suspended{};
        if (!can()) throw Blocked{};
        has_stepped_ = true;
        return record(run());
    }

    /// The result of `run`, which belongs to the previous step: no other session can tell.
    template <typename Run>
    int64_t free_step(Run run) {
        return at_ < me.log_size ? me.log[at_++] : record(run());
    }

    template <typename Run>
    uint64_t position_step(Run run) {
        const uint64_t position = static_cast<uint64_t>(step(always, run));
        me.positions_in_log |= uint32_t{1} << (at_ - 1);
        return position;
    }

    template <typename Run>
    uint64_t free_position(Run run) {
        const uint64_t position = static_cast<uint64_t>(free_step(run));
        me.positions_in_log |= uint32_t{1} << (at_ - 1);
        return position;
    }

    /// Ends the phase.
    void enter(Phase phase) {
        std::fill_n(me.log, std::size(me.log), 0);
        me.positions_in_log = 0;
        me.log_size = 0;
        me.phase = phase;
    }

    void run_phase() {
        switch (me.phase) {
            case Phase::idle:
                throw Blocked{};
            case Phase::prepare:
                return prepare();
            case Phase::attach:
                return attach();
            case Phase::try_attach:
                (void)mark_protocol::try_attach(*this);
                return enter(Phase::attach);
            case Phase::take:
                return take();
            case Phase::cover:
                return cover();
            case Phase::advance:
                return advance();
            case Phase::commit:
                return commit();
            case Phase::reset:
                return finish_reset();
        }
    }

    // ---- drawing an ID

    /// Locks the mark's table while the slot is attached: see attach_after_origin().
    void prepare() {
        if (core.has_origin()) {
            const auto can_open = [&] { return other.table_lock != Lock::exclusive; };
            (void)step(can_open, [&] { return me.is_attaching = true; });
            accept_invalidations();
        } else {
            (void)step(always, [] { return 0; });
        }
        enter(Phase::attach);
    }

    /// See SessionSlot::attach().
    void attach() {
        if (MarkWord{static_cast<uint64_t>(step(always, [&] { return memory.mark[0]; }))}.tag() !=
            tag_)
            return enter(Phase::try_attach);
        if (!me.is_drawing) return enter(Phase::idle);  // CREATE EXTENSION
        const int64_t floor = step(always, [&] { return memory.mark[4]; });
        const auto slot = static_cast<uint8_t>(step(always, [&] { return find_slot(); }));
        (void)step(always, [&] {
            if (has(Mutation::attach_sets_state))
                std::fill_n(memory.slots[slot].words, 4, uint64_t{0});
            advance_past(memory.slots[slot], floor);
            me.slot = slot;
            me.allocation = memory.slots[slot].allocation;
            me.slot_tag = tag_;
            return 0;
        });
        me.is_attaching = false;
        enter(Phase::take);
    }

    void take() {
        uint64_t words[4];
        if (has(Mutation::draw_in_two_steps)) {
            words[0] = static_cast<uint64_t>(step(always, [&] { return slot().words[0]; }));
            words[1] = words[2] = words[3] = 0;
        }
        (void)step([&] { return can_draw(); },
                   [&] {
                       uint64_t* const state =
                           has(Mutation::draw_in_two_steps) ? words : slot().words;
                       me.id = *core.draw(state, to_unix(s.clock), scenario.max_lead_ms);
                       slot().words[0] = state[0];
                       me.id.uncommitted_file = me.own_file;
                       return 0;
                   });
        enter(Phase::cover);
    }

    /// Returns the ID if the word covers it: see mark::cover().
    void cover() {
        const MarkWord known{static_cast<uint64_t>(step(always, [&] { return memory.mark[0]; }))};
        const bool is_tagged = known.tag() == me.tag || has(Mutation::draw_ignores_tag);
        const bool is_covered = is_tagged && has_half_lease(known.unix_ms(), covered_ms());
        if (is_covered || has(Mutation::return_without_advance))
            (void)return_id();
        else
            enter(Phase::advance);
    }

    void advance() {
        const int64_t unix_ms = free_step([&] { return covered_ms(); });
        if (mark_protocol::advance(*this, unix_ms)) {
            (void)return_id();
        } else {
            me.id = {};
            enter(Phase::prepare);
        }
    }

    /// The time that the mark must cover before the ID is returned.
    int64_t covered_ms() const {
        const bool ignores_lead = has(Mutation::cover_ignores_lead) && s.clock < me.id.ms;
        return to_unix(ignores_lead ? s.clock : me.id.ms);
    }

    bool return_id() {
        hand_out(me.id);
        me.has_block = core.issues_blocks();
        me.is_drawing = false;
        if (!me.has_block) me.id = {};
        enter(Phase::idle);
        return true;
    }

    // ---- the end of a transaction

    void commit() {
        if (me.own_file != no_file) {
            const uint64_t position = position_step([&] {
                s.disk.write({Row{}, me.own_file, true, {}});
                return s.disk.size;
            });
            if (!scenario.is_asynchronous) make_durable(position);
            (void)step(always, [&] {
                s.disk.file = me.own_file;
                me.is_invalidated = other.is_invalidated = true;
                return 0;
            });
        } else {
            (void)step(always, [] { return 0; });
        }
        if (me.own_generator != 0) {
            release_slot(s.generator);
            s.generator = me.own_generator;
        }
        end_transaction();
    }

    void finish_reset() {
        const uint64_t position = position_step([&] {
            s.reset_ms = s.clock;
            Row row = page().row;
            row.unix_ms = to_unix(s.clock);
            row.writer = Writer::outside;
            s.disk.write({row, file(), false, {}});
            forgive_later_than(s.reset_ms);
            return page().position;
        });
        make_durable(position);
        (void)step(always, [&] {
            SharedMark{memory}.reset();
            forgive_later_than(s.reset_ms);
            s.reset_ms = 0;
            return 0;
        });
        (void)step(always, [&] {
            for (Slot& each : memory.slots) std::fill_n(each.words, 4, uint64_t{0});
            return 0;
        });
        tag_ = -1;
        end_transaction();
    }

    void end_transaction() {
        me.generator_lock = me.table_lock = Lock::none;
        me.has_page_lock = me.is_attaching = me.is_waiting = me.is_drawing = me.has_block = false;
        me.own_file = no_file;
        me.own_generator = 0;
        me.statement = Statement::none;
        me.id = {};
        enter(Phase::idle);
    }

    // ---- the session's view of the server

    Slot& slot() { return memory.slots[me.slot]; }
    uint8_t file() const { return me.own_file != no_file ? me.own_file : s.disk.file; }
    Page& page() { return s.disk.pages[file()]; }

    /// The number of the opened file in shared memory, where 0 is none.
    uint64_t file_number() const { return uint64_t{file()} + 1; }

    bool can_lock_table() const { return other.table_lock == Lock::none && !other.is_attaching; }

    bool must_wait_for_standby() const {
        return scenario.has_standby && !has(Mutation::ignore_standby);
    }

    void accept_invalidations() {
        if (free_invalidation()) tag_ = -1;
    }

    bool free_invalidation() {
        if (me.phase == Phase::idle) return std::exchange(me.is_invalidated, false);
        return free_step([&] { return std::exchange(me.is_invalidated, false); }) != 0;
    }

    bool is_prepared() {
        return me.slot != no_slot && slot().allocation == me.allocation && me.slot_tag == me.tag;
    }

    bool can_draw() const {
        uint64_t words[4];
        std::copy_n(memory.slots[me.slot].words, 4, words);
        return core.draw(words, to_unix(s.clock), scenario.max_lead_ms).has_value();
    }

    // ---- slots

    /// Looks up the generator's slot, or allocates one with a fresh state.
    ptrdiff_t find_slot() {
        Slot* const end = std::end(memory.slots);
        Slot* found = std::find_if(memory.slots, end, [&](const Slot& each) {
            return each.allocation != 0 && each.generator == me.generator;
        });
        if (found == end) {
            found = std::find_if(memory.slots, end,
                                 [](const Slot& each) { return each.allocation == 0; });
            *found = {
                .allocation = ++s.allocations, .generator = me.generator, .unused{}, .words{}};
            const auto floor = static_cast<int64_t>(SharedMark{memory}.fresh_ms);
            advance_past(*found, floor);
            const bool is_replaced = page().row.structure > structure();
            expect(is_replaced || from_unix(floor) >= latest_id(),
                   "A fresh state starts before an ID of its generator.");
        }
        return found - memory.slots;
    }

    void advance_past(Slot& slot, int64_t unix_ms) const {
        if (has(Mutation::fresh_state_ignores_mark)) return;
        const int64_t early = has(Mutation::fresh_state_starts_at_mark) ? core.unit_ms() : 0;
        core.advance_past(slot.words, unix_ms - early);
    }

    /// See advance_fresh_floor() in src/pg.
    void advance_fresh_floor() {
        int64_t latest = 0;
        for (const Slot& each : memory.slots)
            if (each.allocation != 0) latest = std::max(latest, core.last_ms(each.words));
        SharedMark{memory}.advance_fresh_floor(latest);
    }

    void release_slot(uint8_t generator) {
        for (Slot& slot : memory.slots)
            if (slot.allocation != 0 && slot.generator == generator) slot = {};
    }

    void advance_slot(uint8_t generator) {
        const auto floor = static_cast<int64_t>(SharedMark{memory}.fresh_ms);
        for (Slot& slot : memory.slots)
            if (slot.allocation != 0 && slot.generator == generator)
                core.advance_past(slot.words, floor);
    }

    // ---- IDs

    /// The ID is returned.
    void hand_out(const Id& id) {
        if (s.reset_ms != 0 && id.ms > s.reset_ms) return;
        expect(!s.left.has(id), "An ID was issued twice.");
        // A crash before the commit of a new extension loses its file.
        const bool is_uncommitted =
            id.uncommitted_file != no_file && id.uncommitted_file != s.disk.file;
        expect(is_uncommitted || surviving(s, scenario).mark() >= id.ms,
               "An ID past the mark on disk was returned.");
        s.left.add(id);
    }

    /// After snowdrift.reset_clock(), IDs of times later than `ms` may be repeated.
    void forgive_later_than(Ms ms) {
        s.left.remove_if([ms](const Id& id) { return id.ms > ms; });
    }

    Ms latest_id() const {
        Ms latest = 0;
        for (const Id& id : s.left) latest = std::max(latest, id.ms);
        return latest;
    }

 public:
    /// What a crash or a failover leaves.
    static Survivor surviving(const State& state, const Scenario& scenario) {
        return state.disk.survivor(scenario.has_standby ? state.disk.received : state.disk.flushed);
    }

 private:
    State& s;
    Session& me;
    Session& other;
    Memory& memory;
    const Scenario& scenario;
    const Generator& core;
    Mutation mutation_;
    int tag_;
    size_t at_ = 0;             // the next result in the log
    bool has_stepped_ = false;  // in this turn
    bool is_closed_ = false;    // the table, in this phase
    bool has_written_ = false;  // in this phase
    const char* violation_ = nullptr;
};

}  // namespace snowdrift::model
