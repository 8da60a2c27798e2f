#include "pg/generators/session_slot.hpp"

extern "C" {
#include "access/xact.h"
#include "nodes/pg_list.h"
#include "utils/memutils.h"
}

#include "pg/generators/definitions.hpp"

namespace snowdrift {
namespace {

/// Free the slots of this database's generators that no longer exist, as far as this transaction
/// can see.
void release_dropped_generators() {
    size_t count;
    slots::Claimed* const all = slots::list(count);
    mark::give_up_states();
    for (const slots::Claimed* each = all; each != all + count; ++each) {
        const slots::SlotKey& key = each->key;
        if (key.database == MyDatabaseId && !key.is_default() &&
            !definitions::exists(key.definitions, key.id))
            slots::release(*each->slot, each->claim);
    }
    pfree(all);
}

enum class Outcome { commit, abort };

/// A slot to free at a transaction's end: of a generator that it has dropped, or created.
struct Ending {
    slots::Slot* slot;
    uint64_t claim;
    SubTransactionId subtransaction;
    Outcome outcome;  ///< of the subtransaction, and of all that it is part of
};

List* endings = NIL;  // in the transaction's memory

/// Free the slots of the subtransaction `since` and of those that began later. The later ones are
/// its children or already over.
void end_subtransactions(SubTransactionId since, Outcome outcome) {
    if (endings == NIL) return;
    // What was dropped gave up its state then, and nobody has drawn since.
    if (outcome == Outcome::abort) mark::give_up_states();
    ListCell* cell;
    foreach (cell, endings) {
        auto& each = *static_cast<Ending*>(lfirst(cell));
        if (each.subtransaction < since) continue;
        if (each.outcome == outcome) slots::release(*each.slot, each.claim);
        each.claim = 0;  // over, whatever becomes of the transaction
    }
}

void end_transaction(XactEvent event, void*) {
    if (event == XACT_EVENT_COMMIT) end_subtransactions(TopSubTransactionId, Outcome::commit);
    if (event == XACT_EVENT_ABORT) end_subtransactions(TopSubTransactionId, Outcome::abort);
    if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE)
        endings = NIL;
}

void end_subtransaction(SubXactEvent event, SubTransactionId own, SubTransactionId, void*) {
    if (event == SUBXACT_EVENT_ABORT_SUB) end_subtransactions(own, Outcome::abort);
}

/// Free the slot if the present subtransaction, and all that it is part of, end like that; for
/// abort, any of them.
void free_on(Outcome outcome, slots::Slot* slot, uint64_t claim) {
    static bool is_registered = false;
    if (!is_registered) {
        RegisterXactCallback(end_transaction, nullptr);
        RegisterSubXactCallback(end_subtransaction, nullptr);
        is_registered = true;
    }
    auto* const caller = MemoryContextSwitchTo(TopTransactionContext);
    auto* const each = static_cast<Ending*>(palloc(sizeof(Ending)));
    *each = {slot, claim, GetCurrentSubTransactionId(), outcome};
    endings = lappend(endings, each);
    MemoryContextSwitchTo(caller);
}

}  // namespace

void SessionSlot::make_room(const slots::SlotKey& key) {
    if (slots::make_room(key)) return;
    release_dropped_generators();
    if (slots::make_room(key)) return;
    ereport(ERROR, (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
                    errmsg("too many ID generators in this database"),
                    errdetail("At most %d created generators can be in use in a database.",
                              slots::max_named_per_database),
                    errhint("Drop unused generators with snowdrift.drop_generator().")));
}

void SessionSlot::free_on_abort(slots::Slot& slot) { free_on(Outcome::abort, &slot, slot.claim); }

void free_on_commit(const slots::Claimed& slot) { free_on(Outcome::commit, slot.slot, slot.claim); }

}  // namespace snowdrift
