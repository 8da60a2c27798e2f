#include "pg/generators/slot_release.hpp"

extern "C" {
#include "access/xact.h"
#include "nodes/pg_list.h"
#include "utils/memutils.h"
}

#include "pg/durability/mark.hpp"

namespace snowdrift {
namespace {

enum class Outcome { commit, abort };

/// A slot to release at the end of the transaction.
struct PendingRelease {
    slots::Slot* slot;
    uint64_t allocation;
    SubTransactionId subtransaction;
    Outcome outcome;  ///< the outcome that releases the slot
};

List* pending_releases = NIL;  // in TopTransactionContext

/// Process the pending releases of the subtransaction `first` and of later subtransactions, which
/// are its children or have ended. Release the slots that wait for `outcome`.
void end_subtransactions(SubTransactionId first, Outcome outcome) {
    if (pending_releases == NIL) return;
    // For commits, definitions::remove() has advanced the floor, and no session has drawn since.
    if (outcome == Outcome::abort) mark::advance_fresh_floor();
    ListCell* cell;
    foreach (cell, pending_releases) {
        auto& each = *static_cast<PendingRelease*>(lfirst(cell));
        if (each.subtransaction < first) continue;
        if (each.outcome == outcome) slots::release(*each.slot, each.allocation);
        each.allocation = 0;  // never matches again
    }
}

void on_transaction_event(XactEvent event, void*) {
    if (event == XACT_EVENT_COMMIT) end_subtransactions(TopSubTransactionId, Outcome::commit);
    if (event == XACT_EVENT_ABORT) end_subtransactions(TopSubTransactionId, Outcome::abort);
    if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE)
        pending_releases = NIL;
}

void on_subtransaction_event(SubXactEvent event, SubTransactionId own, SubTransactionId, void*) {
    if (event == SUBXACT_EVENT_ABORT_SUB) end_subtransactions(own, Outcome::abort);
}

void release_on(Outcome outcome, slots::Slot* slot, uint64_t allocation) {
    static bool is_registered = false;
    if (!is_registered) {
        RegisterXactCallback(on_transaction_event, nullptr);
        RegisterSubXactCallback(on_subtransaction_event, nullptr);
        is_registered = true;
    }
    auto* const caller = MemoryContextSwitchTo(TopTransactionContext);
    auto* const release = static_cast<PendingRelease*>(palloc(sizeof(PendingRelease)));
    *release = {slot, allocation, GetCurrentSubTransactionId(), outcome};
    pending_releases = lappend(pending_releases, release);
    MemoryContextSwitchTo(caller);
}

}  // namespace

void release_on_commit(const slots::Allocated& slot) {
    release_on(Outcome::commit, slot.slot, slot.allocation);
}

void release_on_abort(slots::Slot& slot) { release_on(Outcome::abort, &slot, slot.allocation); }

}  // namespace snowdrift
