// A generator's slot that a session has attached, and the mark's tag at that time.
#pragma once

#include <algorithm>

#include "pg/mark/mark.hpp"
#include "pg/record/record.hpp"
#include "pg/slots/slots.hpp"
#include "pg/states/advance_state.hpp"
#include "pg/states/slot_release.hpp"
#include "pg/support/postgres.hpp"

namespace snowdrift {

class AttachedSlot {
 public:
    /// Whether the slot still belongs to the generator, and the session has noticed no change of
    /// the mark's tag since attach().
    bool is_attached() const { return has_slot() && tag_ == mark::attached.tag; }

    /// Makes the next attach() look up the slot again.
    void detach() { slot_ = nullptr; }

    /// Attaches the slot of `key`, unless it is attached, and advances its state past the floor. If
    /// `is_new`, this transaction has created the generator: a rollback releases the slot. `table`
    /// is that of the record. The caller has locked it: otherwise, snowdrift.reset_clock() could
    /// clear the state before it is advanced past the mark as it was before the reset.
    ///
    /// Raises 25006 during recovery, 53400 if the database has too many generators, 53200 if the
    /// server has no free shared memory.
    void attach(Relation table, const slots::SlotKey& key, bool is_new) {
        attach(table, key, is_new,
               [&key](slots::Slot& slot, int64_t unix_ms) { advance_state(slot, key, unix_ms); });
    }

    /// The same, but `start_after(Slot&, unix_ms)` initializes a fresh state: its IDs must be later
    /// than the Unix millisecond `unix_ms`.
    template <typename Start>
    void attach(Relation table, const slots::SlotKey& key, bool is_new, Start start_after) {
        do {
            const int64_t floor = mark::attach();
            tag_ = mark::attached.tag;
            if (!has_slot()) {
                bool is_allocated = false;
                const auto initialize = [&](slots::Slot& slot) {
                    is_allocated = true;
                    start_after(slot, mark::fresh_floor());
                };
                while ((slot_ = slots::attach(key, initialize)) == nullptr) make_room(key);
                allocation_ = slot_->allocation;
                if (is_new && is_allocated) release_on_abort(*slot_, allocation_);
            }
            advance_state(*slot_, key, floor);
            // Readers may have passed IDs before a restart, or before a dump was taken: those
            // before the floor, which can be far ahead of the clock.
            if (!is_new) slot_->returned.raise(std::min(record::read(table).watermark_ms, floor));
            // make_room() reads catalogs, which may process invalidations of the mark.
        } while (tag_ != mark::attached.tag);
        Assert(is_attached());
    }

    /// The tag of the mark when the session attached, for mark::is_current().
    int tag() const { return tag_; }

    slots::Slot& operator*() const { return *slot_; }
    slots::Slot* operator->() const { return slot_; }

 private:
    bool has_slot() const {
        return slot_ != nullptr && slot_->allocation.load(std::memory_order_relaxed) == allocation_;
    }

    /// Ensures that a slot is free for the key: releases the slots of dropped databases and of this
    /// database's dropped generators, or adds memory.
    static void make_room(const slots::SlotKey& key);

    slots::Slot* slot_ = nullptr;
    uint64_t allocation_ = 0;
    int tag_ = -1;
};

}  // namespace snowdrift
