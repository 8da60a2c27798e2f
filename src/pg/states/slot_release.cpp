#include "pg/states/slot_release.hpp"

extern "C" {
#include "access/xact.h"
#include "nodes/pg_list.h"
#include "utils/memutils.h"
}

#include "pg/states/advance_state.hpp"

namespace snowdrift {
namespace {

enum class Outcome { commit, abort };

/// A slot of a generator that the transaction has created or dropped.
struct Pending {
    slots::Slot* slot;
    uint64_t allocation;
    SubTransactionId subtransaction;
    Outcome released_on;
};

List* pending_slots = NIL;  // in TopTransactionContext

/// Advance a state past the floor of fresh states, unless the slot was released.
void advance_if_allocated(slots::Slot& slot, uint64_t allocation, int64_t floor) {
    const slots::Lock lock{LW_EXCLUSIVE};
    if (slot.allocation == allocation) advance_state(slot, slot.key, floor);
}

/// Process the pending slots of the subtransaction `first` and of later subtransactions, which
/// are its children or have ended.
void end_subtransactions(SubTransactionId first, Outcome outcome) {
    if (pending_slots == NIL) return;
    const int64_t floor = advance_fresh_floor();
    ListCell* cell;
    foreach (cell, pending_slots) {
        auto& each = *static_cast<Pending*>(lfirst(cell));
        if (each.subtransaction < first) continue;
        if (each.released_on == outcome)
            slots::release(*each.slot, each.allocation);
        else if (outcome == Outcome::abort)  // of a drop
            advance_if_allocated(*each.slot, each.allocation, floor);
        each.allocation = 0;  // never matches again
    }
}

void on_transaction_event(XactEvent event, void*) {
    switch (event) {
        case XACT_EVENT_COMMIT:
            end_subtransactions(TopSubTransactionId, Outcome::commit);
            break;
        case XACT_EVENT_PREPARE:  // may still be rolled back; if not, later states are safe, too
        case XACT_EVENT_ABORT:
            end_subtransactions(TopSubTransactionId, Outcome::abort);
            break;
        default:
            return;
    }
    pending_slots = NIL;
}

void on_subtransaction_event(SubXactEvent event, SubTransactionId own, SubTransactionId, void*) {
    if (event == SUBXACT_EVENT_ABORT_SUB) end_subtransactions(own, Outcome::abort);
}

void add(slots::Slot& slot, uint64_t allocation, Outcome released_on) {
    static bool is_registered = false;
    if (!is_registered) {
        RegisterXactCallback(on_transaction_event, nullptr);
        RegisterSubXactCallback(on_subtransaction_event, nullptr);
        is_registered = true;
    }
    auto* const caller = MemoryContextSwitchTo(TopTransactionContext);
    auto* const pending = static_cast<Pending*>(palloc(sizeof(Pending)));
    *pending = {&slot, allocation, GetCurrentSubTransactionId(), released_on};
    pending_slots = lappend(pending_slots, pending);
    MemoryContextSwitchTo(caller);
}

}  // namespace

void release_on_abort(slots::Slot& slot, uint64_t allocation) {
    add(slot, allocation, Outcome::abort);
}

void advance_past_floor(slots::Slot& slot, uint64_t allocation) {
    advance_if_allocated(slot, allocation, advance_fresh_floor());
}

void release_on_commit(slots::Slot& slot, uint64_t allocation) {
    add(slot, allocation, Outcome::commit);
}

}  // namespace snowdrift
