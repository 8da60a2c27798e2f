#include "pg/mark/slot_release.hpp"

extern "C" {
#include "access/xact.h"
#include "nodes/pg_list.h"
#include "utils/memutils.h"
}

#include "pg/mark/advance_state.hpp"

namespace snowdrift {
namespace {

enum class Outcome { commit, abort };

enum class Change { none, release, advance };

/// A change of a slot at the end of the transaction.
struct PendingChange {
    slots::Slot* slot;
    uint64_t allocation;
    SubTransactionId subtransaction;
    Change on_commit;
    Change on_abort;
};

List* pending_changes = NIL;  // in TopTransactionContext

/// Advance a state past the floor of fresh states, unless the slot was released.
void advance(slots::Slot& slot, uint64_t allocation, int64_t floor) {
    const slots::Lock lock{LW_EXCLUSIVE};
    if (slot.allocation == allocation) advance_state(slot, slot.key, floor);
}

/// Process the pending changes of the subtransaction `first` and of later subtransactions, which
/// are its children or have ended.
void end_subtransactions(SubTransactionId first, Outcome outcome) {
    if (pending_changes == NIL) return;
    // For commits, definitions::remove() has advanced the floor, and no session has drawn since.
    const bool is_abort = outcome == Outcome::abort;
    const int64_t floor = is_abort ? advance_fresh_floor() : 0;
    ListCell* cell;
    foreach (cell, pending_changes) {
        auto& each = *static_cast<PendingChange*>(lfirst(cell));
        if (each.subtransaction < first) continue;
        const Change change = is_abort ? each.on_abort : each.on_commit;
        if (change == Change::release) slots::release(*each.slot, each.allocation);
        if (change == Change::advance) advance(*each.slot, each.allocation, floor);
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
    pending_changes = NIL;
}

void on_subtransaction_event(SubXactEvent event, SubTransactionId own, SubTransactionId, void*) {
    if (event == SUBXACT_EVENT_ABORT_SUB) end_subtransactions(own, Outcome::abort);
}

void add(slots::Slot& slot, uint64_t allocation, Change on_commit, Change on_abort) {
    static bool is_registered = false;
    if (!is_registered) {
        RegisterXactCallback(on_transaction_event, nullptr);
        RegisterSubXactCallback(on_subtransaction_event, nullptr);
        is_registered = true;
    }
    auto* const caller = MemoryContextSwitchTo(TopTransactionContext);
    auto* const change = static_cast<PendingChange*>(palloc(sizeof(PendingChange)));
    *change = {&slot, allocation, GetCurrentSubTransactionId(), on_commit, on_abort};
    pending_changes = lappend(pending_changes, change);
    MemoryContextSwitchTo(caller);
}

}  // namespace

void release_on_abort(slots::Slot& slot, uint64_t allocation) {
    add(slot, allocation, Change::none, Change::release);
}

void release_on_commit(slots::Slot& slot, uint64_t allocation) {
    add(slot, allocation, Change::release, Change::advance);
}

void advance_on_change(slots::Slot& slot, uint64_t allocation) {
    add(slot, allocation, Change::none, Change::advance);
}

void advance_changed() {
    const int64_t floor = advance_fresh_floor();
    ListCell* cell;
    foreach (cell, pending_changes) {
        const auto& each = *static_cast<PendingChange*>(lfirst(cell));
        if (each.on_commit == Change::none && each.on_abort == Change::advance)
            advance(*each.slot, each.allocation, floor);
    }
}

}  // namespace snowdrift
