#include "pg/session_slot.hpp"

extern "C" {
#include "access/xact.h"
#include "nodes/pg_list.h"
#include "utils/memutils.h"
}

#include "pg/definitions.hpp"

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

/// A slot of a generator that is not committed yet.
struct Provisional {
    slots::Slot* slot;
    uint64_t claim;
    SubTransactionId subtransaction;
};

List* provisional = NIL;  // in the transaction's memory

/// Free the slots of the subtransaction `since` and of those that began later. The later ones are
/// its children or already over.
void free_provisional(SubTransactionId since) {
    if (provisional == NIL) return;
    mark::give_up_states();
    ListCell* cell;
    foreach (cell, provisional) {
        const auto& each = *static_cast<Provisional*>(lfirst(cell));
        if (each.subtransaction >= since) slots::release(*each.slot, each.claim);
    }
}

void end_transaction(XactEvent event, void*) {
    switch (event) {
        case XACT_EVENT_ABORT:
            free_provisional(TopSubTransactionId);
            [[fallthrough]];
        case XACT_EVENT_COMMIT:
        case XACT_EVENT_PREPARE:
            provisional = NIL;
            break;
        default:
            break;
    }
}

void end_subtransaction(SubXactEvent event, SubTransactionId own, SubTransactionId, void*) {
    if (event == SUBXACT_EVENT_ABORT_SUB) free_provisional(own);
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

void SessionSlot::free_on_abort(slots::Slot& slot) {
    static bool is_registered = false;
    if (!is_registered) {
        RegisterXactCallback(end_transaction, nullptr);
        RegisterSubXactCallback(end_subtransaction, nullptr);
        is_registered = true;
    }
    auto* const caller = MemoryContextSwitchTo(TopTransactionContext);
    auto* const each = static_cast<Provisional*>(palloc(sizeof(Provisional)));
    *each = {&slot, slot.claim, GetCurrentSubTransactionId()};
    provisional = lappend(provisional, each);
    MemoryContextSwitchTo(caller);
}

}  // namespace snowdrift
