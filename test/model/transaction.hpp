// How a session ends transactions and opens exits, and the statements that draw no ID. The steps
// are those of mark.cpp ("advances that a commit makes durable"), slot_release.cpp and PostgreSQL.
#pragma once

#include "model/steps.hpp"

namespace snowdrift::model {

class TransactionSteps : public Steps {
 public:
    using Steps::Steps;

    // ---- the end of a transaction

    /// Prepares a commit: see on_transaction_event().
    bool commit() {
        me.is_committing = true;
        if (has_deferred() && !commit_makes_durable() && !has(Mutation::commit_without_wal))
            make_durable(me.deferred.position, Step::commit);
        else
            me.step = Step::commit;
        return true;
    }

    /// Writes the commit record. If the commit flushes it, it also waits for the standby.
    bool write_commit() {
        const bool is_forced = has_deferred() && !has(Mutation::asynchronous_commit);
        if (has_deferred() && !commit_makes_durable() && !has(Mutation::commit_without_wal))
            end_deferred();
        if (me.own_file != no_file) s.disk.write({0, me.own_file, Writer::outside, true, 0});
        me.step = Step::show;
        if (writes_wal() && (!scenario.is_asynchronous || is_forced))
            make_durable(s.disk.size, Step::show);
        return true;
    }

    /// The rows become visible to other sessions.
    bool show() {
        if (me.own_file != no_file) s.disk.file = me.own_file;
        release_pending();
        me.step = Step::end_commit;
        return has_deferred() || end_commit();
    }

    /// Calls the callbacks, and releases the locks.
    bool end_commit() {
        if (has_deferred()) end_deferred();
        if (me.own_file != no_file) me.is_invalidated = other.is_invalidated = true;
        if (me.own_generator != 0) {
            release_slot(s.generator);
            s.generator = me.own_generator;
        }
        end_transaction();
        return true;
    }

    bool abort() {
        if (has_deferred()) {
            if (!me.deferred.is_relied_on) me.deferred = {-1, 0, 0, false, {}};
            // The message of the error may contain an ID, so it is held back.
            else if (has(Mutation::unguarded_error))
                forget_deferred();
        }
        if (me.own_file != no_file) me.tag = -1;
        if (me.own_generator != 0) {
            if (!has(Mutation::rollback_keeps_floor)) advance_fresh_floor();
            release_slot(me.own_generator);
            if (!has(Mutation::rollback_keeps_state)) advance_slot(s.generator);
        }
        end_transaction();
        if (has_deferred()) me.statement = Statement::failed;
        return true;
    }

    // ---- exits

    /// Data is about to leave: see flush_deferred().
    bool flush_exit() {
        if (!has(Mutation::unguarded_message)) s.disk.flush(me.deferred.position);
        me.step = Step::open_exit;
        return true;
    }

    bool open_exit() {
        end_deferred();
        me.step = Step::idle;
        if (me.statement == Statement::failed) me.statement = Statement::none;
        return true;
    }

    // ---- waiting

    bool flush() {
        s.disk.flush(me.position);
        make_durable(me.position, me.next);
        return true;
    }

    bool confirm() {
        if (!is_durable(me.position)) return false;
        go_on(me.next);
        return true;
    }

    /// The wait for the standby is canceled. If a commit waits, PostgreSQL only warns.
    bool cancel() {
        const bool is_commit = me.is_committing && me.next == Step::show;
        if (!is_commit && !has(Mutation::ignore_canceled_wait)) return abort();
        go_on(me.next);
        return true;
    }

    // ---- statements

    /// DROP EXTENSION and CREATE EXTENSION: a new file, which the install script attaches.
    bool replace_extension() {
        if (!can_lock_table() || !is_mark_known()) return false;
        --s.budget.replacements;
        accept_invalidations();
        me.table_lock = Lock::exclusive;
        me.statement = Statement::replace_extension;
        me.own_file = me.file = s.disk.next_file++;
        s.disk.write({0, me.own_file, Writer::outside, false, 0});
        me.tag = -1;
        me.step = Step::attach;
        return true;
    }

    /// drop_generator() and create_generator() of the same name: see definitions::invalidate().
    bool replace_generator() {
        if (other.generator_lock != Lock::none || !require_structure()) return false;
        --s.budget.replacements;
        accept_invalidations();
        me.generator_lock = Lock::exclusive;
        me.statement = Statement::replace_generator;
        me.own_generator = ++s.generators;
        if (!has(Mutation::drop_keeps_floor)) advance_fresh_floor();
        return true;
    }

    /// snowdrift.reset_clock(): see mark::reset().
    bool reset() {
        const int64_t latest_ms = s.clock + scenario.max_lead_ms + lease_ms;
        if (!can_lock_table() || !require_structure() || !memory.has_mark ||
            s.disk.pages[s.disk.file].ms <= latest_ms)
            return false;
        --s.budget.replacements;
        me.statement = Statement::reset;
        me.table_lock = Lock::exclusive;
        me.file = s.disk.file;
        s.reset_ms = s.clock;
        write_page(s.clock, Writer::outside);
        forgive_later_than(s.reset_ms);
        make_durable(s.disk.size, Step::reset_word);
        return true;
    }

    bool reset_word() {
        SharedMark{memory}.reset();
        forgive_later_than(s.reset_ms);
        s.reset_ms = 0;
        me.step = Step::clear_states;
        return true;
    }

    bool clear_states() {
        for (Slot& slot : memory.slots) std::fill_n(slot.words, 4, uint64_t{0});
        me.tag = -1;
        end_transaction();
        return true;
    }

 protected:
    bool has_deferred() const { return me.deferred.tag != -1; }

    bool must_wait_for_standby() const {
        return scenario.has_standby && !has(Mutation::ignore_standby);
    }

    void publish_durable(Ms ms, int32_t tag) {
        SharedMark mark{memory};
        const bool is_retagged = has(Mutation::publish_under_another_tag);
        mark.publish(to_unix(ms), is_retagged ? mark.load().tag() : static_cast<uint16_t>(tag));
    }

    void forget_deferred() {
        if (me.deferred.is_relied_on) release_pending();
        me.deferred = {-1, 0, 0, false, {}};
    }

    void advance_fresh_floor() {
        if (!memory.has_mark) return;
        SharedMark mark{memory};
        if (has(Mutation::fresh_floor_is_word))
            (void)fetch_max(mark.fresh_ms, static_cast<uint64_t>(mark.load().unix_ms()));
        else
            mark.advance_fresh_floor();
    }

 private:
    /// Whether a session has attached the mark since the server started. If none has, DROP
    /// EXTENSION loses the mark.
    bool is_mark_known() const {
        if (s.version == 0) return false;
        const Memory& known = s.memory[s.version - 1];
        return known.mark[0] != 0 || known.mark[1] != 0;
    }

    /// Whether the transaction has written WAL.
    bool writes_wal() const { return me.statement != Statement::select; }

    bool commit_makes_durable() const {
        return writes_wal() && !(must_wait_for_standby() && scenario.is_asynchronous);
    }

    void end_deferred() {
        if (is_durable(me.deferred.position) || has(Mutation::publish_unconfirmed))
            publish_durable(me.deferred.ms, me.deferred.tag);
        forget_deferred();
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

    void end_transaction() {
        me.generator_lock = me.table_lock = Lock::none;
        me.own_file = no_file;
        me.own_generator = 0;
        me.statement = Statement::none;
        me.has_block = me.is_drawing = me.is_attaching = me.is_committing = false;
        clear_locals();
    }

 protected:
    /// Forgets what the session no longer needs, so that equal states are equal.
    void clear_locals() {
        me.step = me.next = Step::idle;
        me.known = 0;
        me.known_ms = 0;
        me.present = {};
        me.position = me.file = 0;
        me.is_needed = false;
        if (!me.has_block) me.id = {};
    }
};

}  // namespace snowdrift::model
