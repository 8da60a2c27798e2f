#include "pg/record/record.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>

extern "C" {
#include "access/generic_xlog.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/dependency.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type_d.h"
#include "commands/extension.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/syscache.h"
}

#include "pg/support/clock.hpp"
#include "pg/support/extension.hpp"
#include "pg/support/tables.hpp"

namespace snowdrift::record {
namespace {

constexpr const char* table_name = "mark";

constexpr Oid column_types[] = {INT8OID, INT8OID, INT8OID, INT8OID, TIMESTAMPTZOID, XIDOID, INT4OID,
                                INT4OID, INT4OID, INT4OID, INT4OID, INT4OID,        BOOLOID};
constexpr int column_count = lengthof(column_types);
constexpr size_t row_size = offsetof(Row, confirmed) + sizeof(bool);
static_assert(row_size == 5 * sizeof(int64) + 7 * sizeof(int32) + sizeof(bool),
              "no padding, as in a row");

[[noreturn]] void report_unusable(const char* problem) {
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("table \"snowdrift_tables.%s\" %s", table_name, problem),
                    errdetail("The table holds the time after which no ID was ever issued."),
                    errhint("Undo the change, or drop the extension and create it again.")));
}

/// The columns of a row on the page; null if the row has another format.
char* columns_of(Page page, OffsetNumber offset) {
    ItemIdData* const item = PageGetItemId(page, offset);
    if (!ItemIdIsNormal(item)) return nullptr;
    auto* const tuple = reinterpret_cast<HeapTupleHeader>(PageGetItem(page, item));
    if (HeapTupleHeaderGetNatts(tuple) < column_count ||
        ItemIdGetLength(item) < tuple->t_hoff + row_size)
        return nullptr;
    return reinterpret_cast<char*>(tuple) + tuple->t_hoff;
}

/// Calls visit(columns) for each row on the page, the oldest first.
template <typename Visit>
void visit_rows(Page page, Visit visit) {
    const OffsetNumber last = PageGetMaxOffsetNumber(page);
    for (OffsetNumber offset = FirstOffsetNumber; offset <= last; ++offset)
        if (char* const columns = columns_of(page, offset)) visit(columns);
}

/// A row as stored, but with the present server_start, and without a structure from before this
/// server started.
Row read_columns(const char* columns) {
    Row row;
    std::memcpy(static_cast<void*>(&row), columns, row_size);
    if (row.writer != Writer::generators && row.writer != Writer::uncommitted)
        row.writer = Writer::outside;
    if (row.server_start != PgStartTime) row.structure = 0;
    row.server_start = PgStartTime;
    return row;
}

/// The oldest row, but with the latest times and the earliest origin of all rows. Raises 55000 if
/// there is none.
Row read_page(Page page) {
    std::optional<Row> all;
    visit_rows(page, [&](const char* columns) {
        const Row row = read_columns(columns);
        if (!all) all = row;
        if (row.unix_ms > all->unix_ms) {
            all->unix_ms = row.unix_ms;
            all->writer = Writer::outside;
        }
        all->origin_ms = std::min(all->origin_ms, row.origin_ms);
        all->origin_generators = std::max(all->origin_generators, row.origin_generators);
        all->watermark_ms = std::max(all->watermark_ms, row.watermark_ms);
    });
    if (!all) report_unusable("was altered");
    return *all;
}

/// Add the row to the table, which this transaction has created. Logical replication does not see
/// the row: its subscribers have their own.
void insert_first_row(Relation table) {
    // An event trigger can already have added columns, with which no dump could be restored.
    if (RelationGetDescr(table)->natts > column_count) report_unusable("has additional columns");
    const Row row{};
    Datum values[column_count] = {
        Int64GetDatum(row.unix_ms),
        Int64GetDatum(row.system_identifier),
        Int64GetDatum(clock::now_ms()),  // the origin
        Int64GetDatum(row.watermark_ms),
        TimestampTzGetDatum(row.server_start),
        TransactionIdGetDatum(row.creation_xid),
        Int32GetDatum(row.number),
        Int32GetDatum(row.origin_generators),
        Int32GetDatum(static_cast<int32>(row.writer)),
        Int32GetDatum(row.timeline),
        Int32GetDatum(row.citus_group),
        Int32GetDatum(row.structure),
        BoolGetDatum(row.confirmed),
    };
    bool is_null[column_count] = {};
    HeapTuple tuple = heap_form_tuple(RelationGetDescr(table), values, is_null);
    heap_insert(table, tuple, GetCurrentCommandId(true), HEAP_INSERT_NO_LOGICAL, nullptr);
    heap_freetuple(tuple);
}

/// The transaction that wrote the row of the cache `cache` with the key `key`, and with the number
/// `column` if it is the row of a column.
TransactionId writer_of(SysCacheIdentifier cache, Oid key, AttrNumber column = 0) {
    HeapTuple tuple =
        SearchSysCache(cache, ObjectIdGetDatum(key), Int16GetDatum(column), Datum{}, Datum{});
    if (!HeapTupleIsValid(tuple)) report_unusable("is missing");
    const TransactionId xid = HeapTupleHeaderGetRawXmin(tuple->t_data);
    ReleaseSysCache(tuple);
    return xid;
}

/// The buffer of the table's page.
Buffer read_buffer(Relation table) {
    if (RelationGetNumberOfBlocks(table) == 0) report_unusable("is empty");
    return ReadBuffer(table, 0);
}

Oid last_opened = InvalidOid;

}  // namespace

Relation open(LOCKMODE lock) {
    Relation table = extension::open_relation(table_name, lock);
    if (table == nullptr) report_unusable("is missing");
    const Oid oid = RelationGetRelid(table);
    if (getExtensionOfObject(RelationRelationId, oid) != get_extension_oid("snowdrift", true))
        report_unusable("does not belong to extension snowdrift");
    if (table->rd_rel->relkind != RELKIND_RELATION || table->rd_rel->relam != HEAP_TABLE_AM_OID ||
        !has_columns(RelationGetDescr(table), column_types))
        report_unusable("was altered");
    if (table->rd_rel->relpersistence != RELPERSISTENCE_PERMANENT)
        report_unusable("is not crash-safe");
    if (table->rd_createSubid != InvalidSubTransactionId && RelationGetNumberOfBlocks(table) == 0)
        insert_first_row(table);
    last_opened = oid;
    return table;
}

bool is_affected_by(Oid relation) { return relation == last_opened || !OidIsValid(relation); }

Writer writer_for(Relation table) {
    // Every change of the file changes the table's row in pg_class. Unlike the relcache, this is
    // also correct in parallel workers.
    const TransactionId xid = writer_of(RELOID, RelationGetRelid(table));
    return TransactionIdIsCurrentTransactionId(xid) ? Writer::uncommitted : Writer::generators;
}

TransactionId creator_of(Relation table) {
    // Unlike the table's row in pg_class, those of its system columns are not changed.
    return writer_of(ATTNUM, RelationGetRelid(table), SelfItemPointerAttributeNumber);
}

Row read(Relation table) {
    const Buffer buffer = read_buffer(table);
    LockBuffer(buffer, BUFFER_LOCK_SHARE);
    const Row row = read_page(BufferGetPage(buffer));
    UnlockReleaseBuffer(buffer);
    return row;
}

Row read(LOCKMODE lock) {
    Relation table = open(lock);
    const Row row = read(table);
    relation_close(table, lock);
    return row;
}

LockedPage lock_page(Relation table) {
    const Buffer buffer = read_buffer(table);
    LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
    return {buffer, BufferGetLSNAtomic(buffer), read_page(BufferGetPage(buffer))};
}

void write(Relation table, LockedPage& page, const Row& row) {
    Assert(row.unix_ms >= page.row.unix_ms || row.writer == Writer::outside);
    Assert(row.server_start == PgStartTime);
    wal::require_writable();
    GenericXLogState* const change = GenericXLogStart(table);
    visit_rows(GenericXLogRegisterBuffer(change, page.buffer, 0),
               [&](char* columns) { std::memcpy(columns, &row, row_size); });
    page.position = GenericXLogFinish(change);
}

void unlock_page(const LockedPage& page) { UnlockReleaseBuffer(page.buffer); }

}  // namespace snowdrift::record
