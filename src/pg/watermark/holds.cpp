#include "pg/watermark/holds.hpp"

#include <algorithm>

#include "pg/support/postgres.hpp"
#include "pg/watermark/lines.hpp"

extern "C" {
#include "access/parallel.h"
#include "access/xact.h"
}

namespace snowdrift::watermark {

Generators held = 0;

namespace {

bool is_published = false;  // whether the transaction has a hold

constexpr auto relaxed = std::memory_order_relaxed;

/// Record the transaction of a line's hold. Precondition: the caller holds the line's lock.
void set_transaction(Line& line, uint64_t transaction) {
    line.latest.store(std::max(line.latest.load(relaxed), transaction), relaxed);
    line.transaction.store(transaction, std::memory_order_release);
}

/// Replace the hold of a line. Precondition: the caller holds the line's lock.
void replace(Line& line, const Hold& hold, uint64_t transaction) {
    Assert(hold.unix_ms != unknown_ms);
    const Generators previous = line.generators.load(relaxed);
    const uint64_t ended = line.transaction.load(relaxed);
    if (previous != 0 && ended != 0) {
        const Ended earlier{ended, line.database, {line.unix_ms, previous}};
        if (line.unix_ms == unknown_ms)
            line.unknown = earlier;
        else
            line.history.add(earlier);
    }
    line.database = MyDatabaseId;
    line.unix_ms = hold.unix_ms;
    line.generators.store(hold.generators, relaxed);
    set_transaction(line, transaction);
}

/// The transaction has no rows that become visible, or its hold has moved to another line.
void remove_hold(Line& line) { line.generators.store(0, std::memory_order_release); }

/// The transaction has committed. Its hold counts for older snapshots, in which it is in progress.
/// If it has no transaction ID, it has inserted no row that they could miss.
void commit(Line& line) {
    Assert(line.transaction == 0);
    const uint64_t transaction = U64FromFullTransactionId(GetTopFullTransactionIdIfAny());
    if (transaction == 0) return remove_hold(line);
    SpinLockAcquire(&line.lock);
    set_transaction(line, transaction);
    SpinLockRelease(&line.lock);
}

/// The transaction was prepared: its hold moves to the line of the prepared transaction, which
/// needs no change when that one ends.
void prepare_transaction(Line& line) {
    const FullTransactionId transaction = GetTopFullTransactionId();
    Line& prepared = line_of(process_of_prepared(transaction));
    SpinLockAcquire(&prepared.lock);
    replace(prepared, {line.unix_ms, line.generators.load(relaxed)},
            U64FromFullTransactionId(transaction));
    SpinLockRelease(&prepared.lock);
    remove_hold(line);
}

void on_transaction_event(XactEvent event, void*) {
    if (!is_published) return;
    Line& line = line_of(MyProc);
    switch (event) {
        case XACT_EVENT_COMMIT:
            commit(line);
            break;
        case XACT_EVENT_PREPARE:
            prepare_transaction(line);
            break;
        case XACT_EVENT_ABORT:
            remove_hold(line);
            break;
        default:
            return;
    }
    held = 0;
    is_published = false;
}

/// Map the memory, and register the callback. Raises 25000 in a parallel worker: the rows of its
/// IDs can be inserted by the leader, whose transaction ends later.
void prepare() {
    static bool is_prepared = false;
    if (is_prepared) return;
    if (IsParallelWorker())
        ereport(ERROR, (errcode(ERRCODE_INVALID_TRANSACTION_STATE),
                        errmsg("cannot generate IDs in a parallel worker"),
                        errhint("Declare functions that generate IDs PARALLEL RESTRICTED.")));
    map_lines();
    RegisterXactCallback(on_transaction_event, nullptr);
    is_prepared = true;
}

}  // namespace

void publish(Generators generator, int64_t unix_ms) {
    Assert(unix_ms != unknown_ms && IsTransactionState());
    prepare();
    Line& line = line_of(MyProc);
    SpinLockAcquire(&line.lock);
    if (is_published) {
        line.unix_ms = std::min(line.unix_ms, unix_ms);
        line.generators.store(line.generators.load(relaxed) | generator, relaxed);
    } else {
        replace(line, {unix_ms, generator}, 0);
    }
    SpinLockRelease(&line.lock);
    Assert(line.unix_ms <= unix_ms && line.database == MyDatabaseId);
    is_published = true;
    held |= generator;
}

}  // namespace snowdrift::watermark
