// What the sessions of the model do: they draw with the protocol of the extension itself, end
// transactions, and replace generators and the extension.
#pragma once

#include <cstddef>
#include <utility>

#include "model/environment.hpp"
#include "model/generators.hpp"

namespace snowdrift::model {

/// One step of a session.
class Turn : public Environment {
 public:
    Turn(State& state, size_t session, const Scenario& own_scenario, const Generator& generator,
         Mutation mutation)
        : Environment{state, session, own_scenario, mutation}, core{generator} {}

    /// The invariant that the step has broken; null if none.
    const char* violation() const { return violation_; }

    // ---- what a session can do. Each returns false if it is not possible now.

    /// Takes the next step of the phase.
    bool go() {
        switch (run_until_left([this] { run_phase(); })) {
            case End::finished:
                me.tag = tag_;
                return true;
            case End::blocked:
                return false;
            case End::failed:
                return abort();
            default:
                return true;
        }
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

    /// snowdrift.reset_clock() raises an error before it has written the mark.
    bool fail() {
        if (me.positions_in_log != 0) return false;
        me.tag = -1;
        return abort();
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

    /// What a crash or a failover leaves.
    static Survivor surviving(const State& state, const Scenario& scenario) {
        return state.disk.survivor(scenario.has_standby ? state.disk.received : state.disk.flushed);
    }

 private:
    void expect(bool holds, const char* violation) {
        if (!holds && violation_ == nullptr) violation_ = violation;
    }

    void run_phase() {
        switch (me.phase) {
            case Phase::idle:
                leave(End::blocked);
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

    /// Locks the mark's table while the slot is attached: see NodeSession and BlockSession.
    void prepare() {
        const bool is_unlocked = has(Mutation::unlocked_attach);
        const auto can_open = [&] { return is_unlocked || other.table_lock != Lock::exclusive; };
        (void)step(can_open, [&] { return me.is_attaching = !is_unlocked; });
        accept_invalidations();
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
            expect(floor <= page().row.unix_ms, "A state is advanced past the mark on disk.");
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

    /// Returns the ID if the word covers it: see mark::is_covered().
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
        if (mark_protocol::cover(*this, unix_ms)) {
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
        (void)step(always, [&] {
            const uint64_t present = memory.mark[3];
            SharedMark{memory}.reset();
            if (has(Mutation::reset_keeps_file)) memory.mark[3] = present;
            return 0;
        });
        (void)step(always, [&] {
            for (Slot& each : memory.slots) std::fill_n(each.words, 4, uint64_t{0});
            return 0;
        });
        tag_ = -1;
        const uint64_t position = position_step([&] {
            Row row = page().row;
            row.unix_ms = to_unix(s.clock);
            row.writer = Writer::outside;
            s.disk.write({row, file(), false, {}});
            forgive_later_than(s.clock);
            return page().position;
        });
        make_durable(position);
        if (has(Mutation::reset_without_attach)) return end_transaction();
        enter(Phase::attach);
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

    bool can_lock_table() const { return other.table_lock == Lock::none && !other.is_attaching; }

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

    const Generator& core;
    const char* violation_ = nullptr;
};

}  // namespace snowdrift::model
