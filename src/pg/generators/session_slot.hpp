// A session's view of a generator: its slot, and the tag of the mark at the time of attaching. Also
// decides when slots are freed.
#pragma once

#include "pg/durability/mark.hpp"
#include "pg/memory/slots.hpp"
#include "pg/support/postgres.hpp"

namespace snowdrift {

/// Frees the slot if the transaction commits, and the present subtransaction with it.
void free_on_commit(const slots::Claimed& slot);

class SessionSlot {
 public:
    /// Whether the slot is still the generator's, under the mark that is still the database's, as
    /// far as the session knows.
    bool is_attached() const { return has_slot() && tag_ == mark::session.tag; }

    /// Forgets the slot; the next attach() looks it up again.
    void detach() { slot_ = nullptr; }

    /// Attaches the slot of that key where it is not. `move_past(Slot&, unix_ms)` makes the IDs of
    /// its state later than a time. `is_uncommitted`: the generator will be gone if this
    /// transaction is rolled back.
    ///
    /// Raises 25006 during recovery, 53400 when the database has too many generators, 53200 when
    /// the server has no shared memory to spare.
    template <typename MovePast>
    void attach(const slots::SlotKey& key, bool is_uncommitted, MovePast move_past) {
        attach(key, is_uncommitted, move_past, move_past);
    }

    /// The same, where `begin(Slot&, unix_ms)` initializes a fresh state.
    template <typename MovePast, typename BeginAfter>
    void attach(const slots::SlotKey& key, bool is_uncommitted, MovePast move_past,
                BeginAfter begin_after) {
        do {
            const mark::Start start = mark::attach();
            tag_ = mark::session.tag;
            if (!has_slot()) {
                const auto begin = [&](slots::Slot& slot) { begin_after(slot, start.fresh); };
                while ((slot_ = slots::attach(key, begin)) == nullptr) make_room(key);
                claim_ = slot_->claim;
                if (is_uncommitted) free_on_abort(*slot_);
            }
            move_past(*slot_, start.floor);
            // Freeing slots reads catalogs, and may have made the mark unknown.
        } while (tag_ != mark::session.tag);
    }

    /// The mark under which the session came to the slot, as mark::is_current() takes it.
    int tag() const { return tag_; }

    slots::Slot& operator*() const { return *slot_; }
    slots::Slot* operator->() const { return slot_; }

 private:
    bool has_slot() const {
        return slot_ != nullptr && slot_->claim.load(std::memory_order_relaxed) == claim_;
    }

    /// Frees the slots of dropped databases, and of this one's generators that are gone, and adds
    /// memory where that is not enough. If this transaction has dropped a generator and is rolled
    /// back, the generator gets a fresh slot. Until then, the transaction's locks block all other
    /// sessions.
    static void make_room(const slots::SlotKey& key);

    /// Frees the slot if the present subtransaction, or the transaction, is rolled back.
    static void free_on_abort(slots::Slot& slot);

    slots::Slot* slot_ = nullptr;
    uint64_t claim_ = 0;
    int tag_ = -1;
};

}  // namespace snowdrift
