#include "pg/watermark/statement_value.hpp"

#include <new>

#include "pg/support/postgres.hpp"

extern "C" {
#include "utils/memutils.h"
#include "utils/snapmgr.h"
}

namespace snowdrift::watermark {
namespace {

/// A value for a statement's snapshot. Each statement has a snapshot object of its own, which the
/// STABLE functions that it calls use, too. Later snapshots can have the same address.
struct Value {
    Value* next;
    const SnapshotData* snapshot;
    uint64_t number;  // of the snapshot
    const slots::Slot* slot;
    std::optional<int64_t> unix_ms;
};

Value* first = nullptr;  // in the memory of `transaction`
LocalTransactionId transaction = InvalidLocalTransactionId;

/// The number of a snapshot, which no other one of this process has.
uint64_t number_of(Snapshot snapshot) {
    static uint64_t latest = 0;
    uint64_t& number = statement_number(snapshot);
    if (number == 0) number = ++latest;
    return number;
}

Value* find(const SnapshotData* snapshot, const slots::Slot& slot) {
    for (Value* value = first; value != nullptr; value = value->next)
        if (value->snapshot == snapshot && value->slot == &slot) return value;
    first = new (MemoryContextAlloc(TopTransactionContext, sizeof(Value)))
        Value{first, snapshot, 0, &slot, std::nullopt};
    return first;
}

}  // namespace

std::optional<int64_t>& find_statement_value(const slots::Slot& slot) {
    if (transaction != current_transaction()) first = nullptr;
    transaction = current_transaction();
    Assert(ActiveSnapshotSet());
    Snapshot snapshot = GetActiveSnapshot();
    const uint64_t number = number_of(snapshot);
    Value* const value = find(snapshot, slot);
    if (value->number != number) {
        value->number = number;
        value->unix_ms.reset();
    }
    return value->unix_ms;
}

}  // namespace snowdrift::watermark
