#include "pg/watermark/reader.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "pg/watermark/lines.hpp"

extern "C" {
#include "access/parallel.h"
#include "access/twophase.h"
#include "access/xlog.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "nodes/value.h"
#include "parser/parse_func.h"
#include "storage/procarray.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
}

namespace snowdrift::watermark {
namespace {

/// A snapshot, and the transactions that are in progress for it.
class View {
 public:
    explicit View(Snapshot snapshot)
        : snapshot_{snapshot}, first_{full_transaction_id(snapshot->xmin)} {}

    /// All earlier transactions have ended.
    uint64_t first() const { return first_; }

    bool has_in_progress(uint64_t transaction) const {
        return transaction >= first_ &&
               XidInMVCCSnapshot(static_cast<TransactionId>(transaction), snapshot_);
    }

 private:
    Snapshot snapshot_;
    uint64_t first_;
};

/// What a reader needs of a line.
struct LineCopy {
    Ended last;        // transaction 0: it is in progress
    bool has_history;  // whether an earlier transaction may count for the view
    Ended unknown;     // unset if not
    History history;   // unset if not
};

/// Copy a line. A history is many times larger than the rest.
void copy(Line& line, const View& view, LineCopy& copied) {
    SpinLockAcquire(&line.lock);
    copied.last = {line.transaction, line.database, {line.unix_ms, line.generators}};
    copied.has_history = line.latest >= view.first();
    if (copied.has_history) {
        copied.unknown = line.unknown;
        copied.history = line.history;
    }
    SpinLockRelease(&line.lock);
}

/// Whether nothing in a line counts for the view. Reads the line without its lock.
bool is_over(const Line& line, const View& view) {
    const bool is_open = line.transaction == 0 && line.generators != 0;
    return !is_open && line.latest < view.first();
}

/// Whether transactions that are in progress for a snapshot may have ended without a hold in the
/// memory: the snapshot is that of a standby, which has been promoted since, or a transaction that
/// was prepared before the server started has ended before the memory was created.
bool has_unknown(Snapshot snapshot) {
    if (snapshot->takenDuringRecovery) return true;
    if (max_prepared_xacts == 0 || full_transaction_id(snapshot->xmax) > first_transaction())
        return false;
    const std::span in_progress{snapshot->xip, snapshot->xcnt};
    return std::any_of(in_progress.begin(), in_progress.end(),
                       [](TransactionId each) { return !TransactionIdIsInProgress(each); });
}

/// The identifier of a prepared transaction; null if it has ended.
const char* name_of_prepared(uint64_t transaction) {
    MemoryContext caller = CurrentMemoryContext;
    if (SPI_connect() < 0) elog(ERROR, "SPI_connect failed");
    const char* const query = psprintf(
        "SELECT gid FROM pg_catalog.pg_prepared_xacts "
        "WHERE transaction OPERATOR(pg_catalog.=) '%u'::pg_catalog.xid",
        static_cast<TransactionId>(transaction));
    if (SPI_execute(query, true, 1) != SPI_OK_SELECT)
        elog(ERROR, "could not read the prepared transactions");
    const char* name = nullptr;
    if (SPI_processed == 1) {
        const char* const found = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
        name = MemoryContextStrdup(caller, found);
    }
    SPI_finish();
    return name;
}

[[noreturn]] void report_unknown(Snapshot snapshot) {
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("watermark is unknown for this snapshot"),
             snapshot->takenDuringRecovery
                 ? errdetail("The snapshot was taken during recovery.")
                 : errdetail("A transaction that may have been prepared before the server started "
                             "is in progress for the snapshot."),
             errhint("Begin a new transaction.")));
}

[[noreturn]] void report_unknown(uint64_t transaction) {
    const char* const name = name_of_prepared(transaction);
    if (name == nullptr) report_unknown(GetActiveSnapshot());
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("watermark is unknown while prepared transaction \"%s\" is open", name),
             errdetail("It was prepared before the server started, or before the first ID since "
                       "then was drawn."),
             errhint("End it with COMMIT PREPARED or ROLLBACK PREPARED.")));
}

}  // namespace

// PREPARE TRANSACTION moves a hold to a later line, so the lines are read in their order.
int64_t lowest_hold(Generators generator) {
    Assert(generator != 0 && ActiveSnapshotSet());
    Snapshot snapshot = GetActiveSnapshot();
    if (has_unknown(snapshot)) report_unknown(snapshot);
    const View view{snapshot};
    int64_t lowest = INT64_MAX;
    const auto count = [&](const Ended& each) {
        const bool is_own = each.database == MyDatabaseId || each.database == InvalidOid;
        if (!is_own || (each.hold.generators & generator) == 0) return;
        if (each.hold.unix_ms == unknown_ms) report_unknown(each.transaction);
        lowest = std::min(lowest, each.hold.unix_ms);
    };
    LineCopy copied;
    for (Line& line : lines()) {
        if (is_over(line, view)) continue;
        copy(line, view, copied);
        const bool is_open = copied.last.transaction == 0;
        if (is_open || view.has_in_progress(copied.last.transaction))
            count(copied.last);
        else
            continue;  // the earlier ones have ended, too
        if (!copied.has_history) continue;
        if (view.has_in_progress(copied.unknown.transaction)) count(copied.unknown);
        copied.history.visit([&](const Ended& each) {
            if (!view.has_in_progress(each.transaction)) return false;
            count(each);
            return true;
        });
    }
    return lowest;
}

void prepare_to_read() {
    Assert(!RecoveryInProgress());
    // The statement's value is that of the leader.
    if (IsParallelWorker())
        ereport(ERROR, (errcode(ERRCODE_INVALID_TRANSACTION_STATE),
                        errmsg("cannot read a watermark in a parallel worker"),
                        errhint("Declare functions that read watermarks PARALLEL RESTRICTED.")));
    map_lines();
}

Datum read_published(FunctionCallInfo call, slots::Kind kind, const char* generator) {
    constexpr std::array<Oid, 3> types{TEXTOID, TEXTOID, OIDOID};
    List* const name =
        list_make2(makeString(pstrdup("snowdrift")), makeString(pstrdup("published_watermark")));
    const Datum watermark =
        OidFunctionCall3Coll(LookupFuncName(name, types.size(), types.data(), false),
                             DEFAULT_COLLATION_OID, CStringGetTextDatum(slots::name_of(kind)),
                             CStringGetTextDatum(generator), ObjectIdGetDatum(InvalidOid));
    Oid input, parameter;
    getTypeInputInfo(get_func_rettype(call->flinfo->fn_oid), &input, &parameter);
    return OidInputFunctionCall(input, TextDatumGetCString(watermark), parameter, -1);
}

}  // namespace snowdrift::watermark
