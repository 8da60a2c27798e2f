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
    Outcome outcome;  ///< of the subtransaction and those that contain it
};

List* pending_releases = NIL;  // in the transaction's memory

/// Release the slots that belong to the subtransaction `first` and to later ones. Those are its
/// children, or over.
void end_subtransactions(SubTransactionId first, Outcome outcome) {
    if (pending_releases == NIL) return;
    // A dropped generator's state was retired at the drop, and no session has drawn from it since.
    if (outcome == Outcome::abort) mark::advance_fresh_floor();
    ListCell* cell;
    foreach (cell, pending_releases) {
        auto& each = *static_cast<PendingRelease*>(lfirst(cell));
        if (each.subtransaction < first) continue;
        if (each.outcome == outcome) slots::release(*each.slot, each.allocation);
        each.allocation = 0;  // done
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
