#include "pg/backfill/used_numbers.hpp"

#include <algorithm>

#include "pg/named/definition_table.hpp"
#include "pg/support/extension.hpp"
#include "pg/support/insert_row.hpp"
#include "pg/support/lock_owner.hpp"
#include "pg/support/relcache_callback.hpp"
#include "pg/support/scan.hpp"
#include "pg/support/tables.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_type_d.h"
#include "storage/lmgr.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
}

namespace snowdrift::backfill {
namespace {

/// The columns of snowdrift_tables.backfill, in order. A row states that the generator has used the
/// numbers of the unit up to `sequence`. The greatest sequence applies.
struct Column {
    static constexpr AttrNumber generator = 1, sequence = 2, unit = 3, count = 3;
};
constexpr Oid column_types[Column::count] = {INT4OID, INT4OID, INT8OID};

// ---- the table

[[noreturn]] void report_unusable(const char* problem) {
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("table \"snowdrift_tables.backfill\" %s", problem),
                    errdetail("The table holds the IDs that snowflake_at() has returned."),
                    errhint("Undo the change.")));
}

/// The table and its index, until either may have been replaced.
Oid table_oid = InvalidOid;
Oid index_oid = InvalidOid;

void on_invalidation(Oid relation) {
    if (relation == table_oid || !OidIsValid(relation)) table_oid = InvalidOid;
}

Oid find_table() {
    if (OidIsValid(table_oid)) return table_oid;
    add_relcache_callback(on_invalidation);
    const Oid table = extension::find_relation("backfill");
    if (!OidIsValid(table)) report_unusable("is missing");
    table_oid = table;  // an invalidation from here on is noticed
    index_oid = extension::find_relation("backfill_used");
    if (!OidIsValid(index_oid)) {
        table_oid = InvalidOid;
        report_unusable("has no index \"backfill_used\"");
    }
    return table;
}

/// The table and its index, open until close().
struct Table {
    Relation heap;
    Relation index;
};

/// Open the table for this transaction.
Table open(Oid table) {
    Relation heap = try_relation_open(table, RowExclusiveLock);
    if (heap == nullptr) report_unusable("is missing");
    if (heap->rd_rel->relkind != RELKIND_RELATION || heap->rd_rel->relam != HEAP_TABLE_AM_OID ||
        !has_columns(RelationGetDescr(heap), column_types))
        report_unusable("was altered");
    if (heap->rd_rel->relpersistence != RELPERSISTENCE_PERMANENT)
        report_unusable("is not crash-safe");
    (void)find_table();  // the index may have been replaced before the lock was acquired
    Relation index = index_open(index_oid, RowExclusiveLock);
    if (index->rd_index->indrelid != table || index->rd_index->indnkeyatts != Column::count ||
        !index->rd_index->indisvalid)
        report_unusable("has no index \"backfill_used\"");
    return {heap, index};
}

void close(const Table& table) {
    index_close(table.index, NoLock);
    table_close(table.heap, NoLock);
}

/// Calls visit(HeapTuple) for each row of a generator, or of one of its units, until it returns
/// true: the last unit first, and in a unit the greatest sequence.
///
/// The lock of take(), or of the dropped generator, keeps other transactions from adding rows of
/// the generator, so the visible rows are those of committed transactions and of this one.
template <typename Visit>
void visit_rows(const Table& table, uint32_t generator, std::optional<uint64_t> unit, Visit visit) {
    ScanKeyData keys[2];
    ScanKeyInit(&keys[0], Column::generator, BTEqualStrategyNumber, F_INT4EQ,
                UInt32GetDatum(generator));
    ScanKeyInit(&keys[1], Column::unit, BTEqualStrategyNumber, F_INT8EQ,
                UInt64GetDatum(unit.value_or(0)));
    SysScanDesc scan =
        systable_beginscan_ordered(table.heap, table.index, SnapshotSelf, unit ? 2 : 1, keys);
    HeapTuple row;
    do row = systable_getnext_ordered(scan, BackwardScanDirection);
    while (row != nullptr && !visit(row));
    systable_endscan_ordered(scan);
}

/// The first number that the unit has not used, at least pool.sequence_min.
int64_t first_unused(const Table& table, const Pool& pool, uint64_t unit) {
    int64_t first = pool.sequence_min;
    visit_rows(table, pool.generator, unit, [&](HeapTuple last) {
        const auto used = get_column(table.heap, last, Column::sequence);
        if (used) first = std::max(first, int64_t{DatumGetInt32(*used)} + 1);
        return true;
    });
    return first;
}

/// Remove the rows of a unit, before one with a greater sequence is added. A rollback undoes both.
/// The present command cannot remove rows that it has added: a later one does.
void remove_superseded(const Table& table, const Pool& pool, uint64_t unit) {
    visit_rows(table, pool.generator, unit, [&](HeapTuple row) {
        const bool is_new =
            TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(row->t_data)) &&
            HeapTupleHeaderGetCmin(row->t_data) >= GetCurrentCommandId(false);
        if (!is_new) CatalogTupleDelete(table.heap, &row->t_self);
        return false;
    });
}

// ---- the batches
//
// A transaction takes batches of numbers: one number at first, and then as many as it has taken for
// the same unit. A unit with many IDs therefore takes few rows.

struct Key {
    Oid table;
    uint32_t generator;
    uint64_t unit;  // for which IDs were requested
};

struct Batch {
    Key key;
    uint64_t unit;  // of the numbers; the units from key.unit up to it are used up
    int64_t next;   // the numbers that are left: next <= number < end
    int64_t end;    //
    int64_t taken;  // numbers that the transaction has taken for the key
};

constexpr int max_batches = 1 << 14;
HTAB* batches = nullptr;  // in the memory of `transaction`
LocalTransactionId transaction = InvalidLocalTransactionId;

/// Consecutive units of a generator that are used up, so that later calls for these units, also in
/// later transactions, need not look at each of them.
struct Run {
    Oid table;
    uint32_t generator;
    uint64_t first;
    uint64_t end;

    bool is_of(const Key& key) const { return table == key.table && generator == key.generator; }
};

Run used_up{};
bool is_outdated = false;  // a rollback may have returned numbers to the table
// That of the definitions when the batches were made. After a change, an id can belong to another
// generator.
uint64_t definitions_version = 0;

void on_transaction_event(XactEvent event, void*) {
    if (event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE) is_outdated = true;
}

void on_subtransaction_event(SubXactEvent event, SubTransactionId, SubTransactionId, void*) {
    if (event == SUBXACT_EVENT_ABORT_SUB) is_outdated = true;
}

/// Discard the batches, unless this transaction can still use them. Those of an earlier transaction
/// cannot be used, because its commit may not be on disk yet. Their remaining numbers stay unused.
void make_batches() {
    const bool is_present = batches != nullptr && transaction == current_transaction();
    if (is_present && !is_outdated && definitions_version == definitions::version &&
        hash_get_num_entries(batches) < max_batches)
        return;
    if (is_outdated || definitions_version != definitions::version) used_up = {};
    HTAB* const previous = is_present ? batches : nullptr;
    batches = nullptr;
    if (previous != nullptr) hash_destroy(previous);
    if (definitions_version == 0) {
        RegisterXactCallback(on_transaction_event, nullptr);
        RegisterSubXactCallback(on_subtransaction_event, nullptr);
    }
    HASHCTL control{};
    control.keysize = sizeof(Key);
    control.entrysize = sizeof(Batch);
    control.hcxt = TopTransactionContext;
    batches =
        hash_create("snowdrift backfill", 256, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
    transaction = current_transaction();
    is_outdated = false;
    definitions_version = definitions::version;
}

/// The transaction's batch for a key.
Batch& find_batch(const Key& key) {
    make_batches();
    bool is_found;
    auto* const batch = static_cast<Batch*>(hash_search(batches, &key, HASH_ENTER, &is_found));
    if (!is_found) *batch = {key, key.unit, 0, 0, 0};
    return *batch;
}

/// Move a batch to the end of the known run, if its unit is in the run.
void skip_used_up(Batch& batch) {
    if (used_up.is_of(batch.key) && used_up.first <= batch.unit)
        batch.unit = std::max(batch.unit, used_up.end);
}

/// Add the units from `first` up to, but not including, `end` to the known run, or replace the run
/// if they are not adjacent to it.
void add_used_up(const Key& key, uint64_t first, uint64_t end) {
    if (first == end) return;
    const bool is_adjacent = used_up.is_of(key) && first <= used_up.end && used_up.first <= end;
    used_up = {key.table, key.generator, is_adjacent ? std::min(first, used_up.first) : first,
               is_adjacent ? std::max(end, used_up.end) : end};
}

/// Fill an empty batch. Leave it empty if no unit of the pool has a number left.
void refill(Batch& batch, const Pool& pool) {
    const Table table = open(batch.key.table);
    Assert(batch.next == batch.end);
    // Until the (sub)transaction whose row this is ends, so that others see what it has taken.
    acquire_for(CurTransactionResourceOwner,
                [&] { LockDatabaseObject(batch.key.table, pool.generator, 0, ExclusiveLock); });
    const int64_t end = int64_t{pool.sequence_max} + 1;
    int64_t first = end;
    const uint64_t begin = batch.unit;
    skip_used_up(batch);
    for (; batch.unit < pool.end_unit; ++batch.unit) {
        CHECK_FOR_INTERRUPTS();
        first = first_unused(table, pool, batch.unit);
        if (first < end) break;
    }
    add_used_up(batch.key, begin, batch.unit);
    if (first < end) {
        const int64_t size = std::min(std::max(batch.taken, int64_t{1}), end - first);
        const std::optional<Datum> row[Column::count] = {
            Int32GetDatum(static_cast<int32>(pool.generator)),
            Int32GetDatum(static_cast<int32>(first + size - 1)),
            Int64GetDatum(static_cast<int64>(batch.unit))};
        if (first > pool.sequence_min) remove_superseded(table, pool, batch.unit);
        insert_row(table.heap, row);
        batch.next = first;
        batch.end = first + size;
        batch.taken += size;
    }
    close(table);
}

}  // namespace

std::optional<Place> take(const Pool& pool, uint64_t unit) {
    Assert(!XactReadOnly && !IsInParallelMode());
    Assert(pool.sequence_min < pool.sequence_max && unit < pool.end_unit);
    Batch& batch = find_batch({find_table(), pool.generator, unit});
    // reset_clock() may have moved the origin back, so that the batch is after it.
    if (batch.unit >= pool.end_unit) batch.next = batch.end;
    if (batch.next == batch.end) refill(batch, pool);
    if (batch.next == batch.end) return std::nullopt;
    Assert(batch.unit >= unit && batch.unit < pool.end_unit);
    Assert(batch.next >= pool.sequence_min && batch.next <= pool.sequence_max);
    return Place{batch.unit, static_cast<uint32_t>(batch.next++)};
}

void remove(uint32_t generator) {
    const Table table = open(find_table());
    visit_rows(table, generator, std::nullopt, [&](HeapTuple row) {
        CatalogTupleDelete(table.heap, &row->t_self);
        return false;
    });
    close(table);
    CommandCounterIncrement();
}

}  // namespace snowdrift::backfill
