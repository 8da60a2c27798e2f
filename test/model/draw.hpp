// How a session draws an ID: the steps of draw.hpp, session_slot.hpp and mark.cpp in src/pg. Each
// step is what that code does between two accesses to shared data. The steps on shared words are
// the core's own code.
#pragma once

#include "model/transaction.hpp"

namespace snowdrift::model {

class DrawSteps : public TransactionSteps {
 public:
    using TransactionSteps::TransactionSteps;

    // ---- draw()

    /// Begins a draw, and the transaction if there is none: see next_in_block() and draw().
    bool draw(Statement statement) {
        if (me.statement == Statement::none) {
            accept_invalidations();
            me.statement = statement;
        }
        if (s.generators != 0) {
            if (other.generator_lock == Lock::exclusive) return false;
            me.generator_lock = std::max(me.generator_lock, Lock::shared);
        }
        const uint8_t generator = me.own_generator != 0 ? me.own_generator : s.generator;
        if (me.generator != generator) me.slot = no_slot;
        me.generator = generator;

        --s.budget.draws;
        if (me.has_block && is_current(me.slot_tag)) {
            ++me.id.detail;
            return return_id();
        }
        expect(!me.has_block || replaces_mark(), "A transaction has two blocks, of two times.");
        me.is_drawing = true;
        me.step = is_prepared() ? Step::ask : first_of_prepare();
        return true;
    }

    /// Locks the mark's table while the slot is attached: see attach_after_origin().
    bool prepare() {
        if (!can_open_table()) return false;
        me.is_attaching = true;
        accept_invalidations();
        me.step = Step::attach;
        return true;
    }

    bool ask() {
        if (has(Mutation::draw_in_two_steps)) {
            me.known = slot().words[0];
            me.step = Step::store_state;
            return true;
        }
        return take_id(slot().words);
    }

    bool store_state() {
        uint64_t words[4] = {me.known};
        if (!take_id(words)) return false;
        slot().words[0] = words[0];
        return true;
    }

    /// Returns the ID if the word covers it: see mark::cover().
    bool cover() {
        const MarkWord known = word_of(memory);
        const bool is_tagged = known.tag() == me.tag || has(Mutation::draw_ignores_tag);
        if (has(Mutation::return_without_advance)) return return_id();
        if (is_tagged && has_half_lease(known.unix_ms(), covered_ms())) return return_id();
        me.step = Step::begin_advance;
        return true;
    }

    // ---- attach(): see SessionSlot::attach() and mark::attach()

    bool attach() {
        if (!me.has_mark_slot) {
            if (!require_structure()) return abort();
            memory.has_mark = true;
            me.has_mark_slot = true;
        }
        if (me.tag != word_of(memory).tag())
            me.step = Step::open_to_reconcile;
        else if (me.is_drawing)
            me.step = Step::read_floor;
        else
            clear_locals();  // CREATE EXTENSION
        return true;
    }

    bool read_floor() {
        me.known_ms = from_unix(static_cast<int64_t>(SharedMark{memory}.floor_ms));
        me.slot_tag = me.tag;
        me.step = Step::find_slot;
        return true;
    }

    bool find_slot() {
        if (!has_slot()) {
            if (!require_structure()) return abort();
            const auto is_of_generator = [&](const Slot& each) {
                return each.allocation != 0 && each.generator == me.generator;
            };
            Slot* const end = std::end(memory.slots);
            Slot* found = std::find_if(memory.slots, end, is_of_generator);
            if (found == end) found = allocate();
            me.slot = static_cast<uint8_t>(found - memory.slots);
            me.allocation = found->allocation;
        }
        me.step = Step::advance_state;
        return true;
    }

    bool advance_state() {
        if (has(Mutation::attach_sets_state)) std::fill_n(slot().words, 4, uint64_t{0});
        advance_past(slot(), me.known_ms);
        me.is_attaching = false;
        me.known_ms = 0;
        me.present = {};
        me.file = 0;
        me.step = Step::ask;
        return true;
    }

    // ---- reconcile()

    bool open_to_reconcile() {
        if (!can_open_table()) return false;
        open_table();
        me.present = page();
        if (!has(Mutation::trust_writer)) s.disk.flush(page().position);
        me.step = Step::reconcile;
        return true;
    }

    bool reconcile() {
        const Writer own = has(Mutation::skip_commit_of_extension) ? me.present.writer : writer();
        if (me.present.writer == own && me.present.writer != Writer::outside && attach_word()) {
            close_table();
            me.step = Step::attach;
            return true;
        }
        if (is_retired() && !has(Mutation::attach_ignores_version)) return abort();
        SharedMark mark{memory};
        me.known_ms = from_unix(has(Mutation::new_file_starts_at_zero)   ? 0
                                : has(Mutation::new_file_starts_at_word) ? mark.load().unix_ms()
                                                                         : mark.latest_written());
        me.step = must_bind() ? Step::carry_over : Step::record_writer;
        return true;
    }

    bool carry_over() {
        if (page().ms < me.known_ms) write_page(me.known_ms, Writer::outside);
        me.present = page();
        make_durable(page().position, Step::bind);
        return true;
    }

    bool bind() {
        const bool may_bind = !is_retired() || has(Mutation::attach_ignores_version);
        const bool binds_again = has(Mutation::bind_again);
        const bool is_present = page().has(me.present.ms, me.present.writer) || binds_again;
        const bool is_bound = !must_bind() && !binds_again;
        if (may_bind && is_present &&
            (is_bound || SharedMark{memory}.bind(own_file(), to_unix(me.present.ms)))) {
            me.step = Step::record_writer;
        } else {
            me.present = page();
            me.step = Step::reconcile;
        }
        return true;
    }

    bool record_writer() {
        if (page().has(me.present.ms, me.present.writer)) write_page(me.present.ms, writer());
        me.present = page();
        make_durable(page().position, Step::reconcile);
        return true;
    }

    // ---- try_advance()

    bool begin_advance() {
        const MarkWord known = word_of(memory);
        if (known.tag() != me.tag && !has(Mutation::draw_ignores_tag)) return discard_id();
        me.known = known.bits;
        me.is_needed = known.unix_ms() < covered_ms();
        if (me.deferred.tag == known.tag()) {
            if (!me.is_needed) return return_id();
            if (me.deferred.ms >= me.id.ms && rely_on_deferred()) return return_id();
        }
        if (!me.is_needed && !SharedMark{memory}.try_become_advancer(known)) return return_id();
        me.step = Step::open_to_advance;
        return true;
    }

    bool open_to_advance() {
        if (!can_open_table()) return false;
        open_table();
        if (attach_word() && me.tag == known().tag()) {
            me.step = Step::write_advance;
            return true;
        }
        close_table();
        return discard_id();
    }

    bool write_advance() {
        const int64_t id_ms = to_unix(me.id.ms);
        const int64_t now_ms = to_unix(s.clock);
        const Ms target = from_unix(has(Mutation::lease_ignores_id) ? now_ms + lease_ms
                                                                    : leased_mark(id_ms, now_ms));
        const Writer own = has(Mutation::skip_commit_of_extension) ? page().writer : writer();
        const bool is_enough = page().ms >= (me.is_needed ? me.id.ms : target);
        const bool is_written = !is_enough && page().writer == own;
        if (is_written) {
            SharedMark{memory}.record_write(to_unix(target));
            write_page(target, own);
        }
        me.present = page();
        const bool is_advanced = me.present.writer == own;
        if (is_advanced && has(Mutation::word_has_deferred_advance))
            publish_durable(me.present.ms, known().tag());
        if (is_advanced && !has_deferred()) {
            me.deferred = {known().tag(), me.present.ms, page().position, false, {}};
            if (me.is_needed ? rely_on_deferred() : is_commit_near()) {
                close_table();
                me.step = Step::reread_tag;
                return true;
            }
        }
        if (!is_advanced) me.present = {};
        const bool must_wait =
            !has(Mutation::return_before_flush) && (is_written || !has(Mutation::trust_page));
        make_durable(must_wait ? page().position : uint8_t{0}, Step::publish);
        return true;
    }

    bool publish() {
        const bool is_advanced = me.present.ms != 0;
        if (is_advanced) publish_durable(me.present.ms, known().tag());
        forget_deferred();
        close_table();
        if (!is_advanced) return discard_id();
        me.step = Step::reread_tag;
        return true;
    }

    bool reread_tag() {
        const bool is_current = word_of(memory).tag() == known().tag();
        return is_current || has(Mutation::advance_ignores_tag) ? return_id() : discard_id();
    }

 private:
    // ---- the session's view of shared memory

    MarkWord known() const { return MarkWord{me.known}; }
    Slot& slot() { return memory.slots[me.slot]; }
    Page& page() { return s.disk.pages[me.file]; }

    /// The number of the opened file in shared memory, where 0 is none.
    uint64_t own_file() const { return uint64_t{me.file} + 1; }

    /// Whether the mark may be reset, or replaced by one of another file or library.
    bool replaces_mark() const {
        return scenario.budget.replacements > 0 || scenario.has_two_libraries;
    }

    bool must_bind() {
        return me.present.writer == Writer::outside || SharedMark{memory}.file != own_file();
    }

    bool has_slot() { return me.slot != no_slot && slot().allocation == me.allocation; }

    bool is_prepared() { return has_slot() && me.slot_tag == me.tag; }

    bool is_current(int32_t tag) const {
        return word_of(memory).tag() == tag || has(Mutation::block_outlives_mark);
    }

    Step first_of_prepare() const { return core.has_origin() ? Step::prepare : Step::attach; }

    bool attach_word() {
        if (is_retired() && !has(Mutation::attach_ignores_version)) return false;
        if (SharedMark{memory}.file != own_file()) return false;
        me.tag = word_of(memory).tag();
        return true;
    }

    Slot* allocate() {
        Slot* const slot = std::find_if(memory.slots, std::end(memory.slots),
                                        [](const Slot& each) { return each.allocation == 0; });
        *slot = {.allocation = ++s.allocations, .generator = me.generator, .unused{}, .words{}};
        const Ms floor = from_unix(static_cast<int64_t>(SharedMark{memory}.fresh_ms));
        advance_past(*slot, floor);
        expect(floor >= latest_id(), "A fresh state starts before an ID of its generator.");
        return slot;
    }

    void advance_past(Slot& slot, Ms ms) const {
        if (has(Mutation::fresh_state_ignores_mark)) return;
        const int64_t early = has(Mutation::fresh_state_starts_at_mark) ? core.unit_ms() : 0;
        core.advance_past(slot.words, to_unix(ms) - early);
    }

    // ---- the ID

    /// The time that the mark must cover before the ID leaves the server.
    int64_t covered_ms() const {
        const bool ignores_lead = has(Mutation::cover_ignores_lead) && s.clock < me.id.ms;
        return to_unix(ignores_lead ? s.clock : me.id.ms);
    }

    bool take_id(uint64_t* words) {
        const auto id = core.draw(words, to_unix(s.clock), scenario.max_lead_ms);
        if (!id) return false;  // the session waits for the clock
        me.id = *id;
        me.id.uncommitted_file = me.own_file;
        me.step = Step::cover;
        return true;
    }

    bool return_id() {
        if (me.deferred.is_relied_on && me.statement != Statement::foreign)
            me.pending.add(me.id);
        else
            leave(me.id);
        me.is_drawing = false;
        me.has_block = core.issues_blocks();
        clear_locals();
        return true;
    }

    /// The session has to attach before it draws another ID.
    bool discard_id() {
        me.tag = -1;
        me.id = {};
        me.has_block = false;
        me.step = first_of_prepare();
        return true;
    }

    // ---- advances that the commit makes durable

    bool are_exits_guarded() const {
        return me.statement != Statement::foreign || has(Mutation::unguarded_code);
    }

    bool is_commit_near() const {
        return me.statement == Statement::insert || me.statement == Statement::select;
    }

    bool rely_on_deferred() {
        if (me.deferred.is_relied_on) return true;
        if ((must_wait_for_standby() && !has(Mutation::defer_despite_standby)) ||
            !are_exits_guarded())
            return false;
        me.deferred.is_relied_on = true;
        return true;
    }
};

}  // namespace snowdrift::model
