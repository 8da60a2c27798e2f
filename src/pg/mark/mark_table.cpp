#include "pg/mark/mark_table.hpp"

#include <cstddef>
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

namespace snowdrift::mark_table {
namespace {

constexpr const char* table_name = "mark";

/// The columns of the table: all have a fixed width and are NOT NULL. A later version of the
/// extension may add others after them.
struct Columns {
    int64 unix_ms;
    int64 system_identifier;
    int64 origin_ms;
    int64 watermark_ms;
    int64 server_start;
    TransactionId creation_xid;
    int32 number;
    int32 origin_generators;
    int32 writer;
    int32 timeline;
    int32 citus_group;
    int32 structure;
    bool confirmed;
};
constexpr Oid column_types[] = {INT8OID, INT8OID, INT8OID, INT8OID, TIMESTAMPTZOID, XIDOID, INT4OID,
                                INT4OID, INT4OID, INT4OID, INT4OID, INT4OID,        BOOLOID};
constexpr int column_count = lengthof(column_types);
constexpr size_t row_size = offsetof(Columns, confirmed) + sizeof(bool);
static_assert(row_size == 5 * sizeof(int64) + 7 * sizeof(int32) + sizeof(bool),
              "no padding, as in a row");

[[noreturn]] void report_unusable(const char* problem) {
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("table \"snowdrift_tables.%s\" %s", table_name, problem),
                    errdetail("The table holds the time after which no ID was ever issued."),
                    errhint("Undo the change, or drop the extension and create it again.")));
}

/// The columns of a row on the page; null if the row has another format.
Columns* columns_of(Page page, OffsetNumber offset) {
    ItemIdData* const item = PageGetItemId(page, offset);
    if (!ItemIdIsNormal(item)) return nullptr;
    auto* const tuple = reinterpret_cast<HeapTupleHeader>(PageGetItem(page, item));
    if (HeapTupleHeaderGetNatts(tuple) < column_count ||
        ItemIdGetLength(item) < tuple->t_hoff + row_size)
        return nullptr;
    return reinterpret_cast<Columns*>(reinterpret_cast<char*>(tuple) + tuple->t_hoff);
}

/// Calls visit(Columns&) for each row on the page, the oldest first. There is one, unless a dump
/// was restored while triggers were disabled.
template <typename Visit>
void visit_rows(Page page, Visit visit) {
    const OffsetNumber last = PageGetMaxOffsetNumber(page);
    for (OffsetNumber offset = FirstOffsetNumber; offset <= last; ++offset)
        if (Columns* const columns = columns_of(page, offset)) visit(*columns);
}

Writer to_writer(int32 stored) {
    const auto writer = static_cast<Writer>(stored);
    const bool is_known = writer == Writer::generators || writer == Writer::uncommitted;
    return is_known ? writer : Writer::outside;
}

/// The value of the oldest row, with the latest times and the earliest origin. Raises 55000 if
/// there is no row.
Value read_page(Page page) {
    std::optional<Value> value;
    visit_rows(page, [&](const Columns& row) {
        const Origin origin{row.origin_ms, row.origin_generators};
        if (!value)
            value = {
                row.unix_ms,
                {static_cast<uint64_t>(row.system_identifier), row.creation_xid,
                 static_cast<TimeLineID>(row.timeline), row.citus_group, row.number, row.confirmed},
                origin,
                to_writer(row.writer),
                row.server_start == PgStartTime ? row.structure : 0,
                row.watermark_ms};
        else if (row.unix_ms > value->unix_ms)
            value = value->with(row.unix_ms, Writer::outside);
        value = value->with(origin).with_watermark(std::max(value->watermark_ms, row.watermark_ms));
    });
    if (!value) report_unusable("was altered");
    return *value;
}

/// Add the row to the table, which this transaction has created. Logical replication does not see
/// the row: its subscribers have their own.
void insert_row(Relation table) {
    const Owner none{0, InvalidTransactionId, 0, no_group, unknown_number, true};
    const Owner self = this_server(table, none);
    Datum values[column_count] = {
        Int64GetDatum(0),
        Int64GetDatum(static_cast<int64>(self.system_identifier)),
        Int64GetDatum(clock::now_ms()),
        Int64GetDatum(0),
        TimestampTzGetDatum(PgStartTime),
        TransactionIdGetDatum(self.creation_xid),
        Int32GetDatum(self.number),
        Int32GetDatum(0),
        Int32GetDatum(static_cast<int32>(Writer::outside)),
        Int32GetDatum(static_cast<int32>(self.timeline)),
        Int32GetDatum(self.citus_group),
        Int32GetDatum(0),
        BoolGetDatum(self.is_confirmed),
    };
    // An event trigger can already have added columns, with which no dump could be restored.
    if (RelationGetDescr(table)->natts > column_count) report_unusable("has additional columns");
    bool is_null[column_count] = {};
    HeapTuple tuple = heap_form_tuple(RelationGetDescr(table), values, is_null);
    heap_insert(table, tuple, GetCurrentCommandId(true), HEAP_INSERT_NO_LOGICAL, nullptr);
    heap_freetuple(tuple);
}

/// The transaction that wrote the row of the cache `cache` with the key `key`, and with the number
/// `column` if it is the row of a column.
TransactionId creator_of(SysCacheIdentifier cache, Oid key, AttrNumber column = 0) {
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
        insert_row(table);
    last_opened = oid;
    return table;
}

bool is_affected_by(Oid relation) { return relation == last_opened || !OidIsValid(relation); }

Writer writer_for(Relation table) {
    // Every change of the file changes the table's row in pg_class. Unlike the relcache, this is
    // also correct in parallel workers.
    const TransactionId xid = creator_of(RELOID, RelationGetRelid(table));
    return TransactionIdIsCurrentTransactionId(xid) ? Writer::uncommitted : Writer::generators;
}

Owner this_server(Relation table, const Owner& last) {
    Owner self = last;
    self.system_identifier = GetSystemIdentifier();
    // Unlike the table's row in pg_class, those of its system columns are not changed.
    self.creation_xid = creator_of(ATTNUM, RelationGetRelid(table), SelfItemPointerAttributeNumber);
    if (!RecoveryInProgress()) self.timeline = GetWALInsertionTimeLine();
    return self;
}

Value read(Relation table) {
    const Buffer buffer = read_buffer(table);
    LockBuffer(buffer, BUFFER_LOCK_SHARE);
    const Value value = read_page(BufferGetPage(buffer));
    UnlockReleaseBuffer(buffer);
    return value;
}

Value read(LOCKMODE lock) {
    Relation table = open(lock);
    const Value value = read(table);
    relation_close(table, lock);
    return value;
}

LockedPage lock_page(Relation table) {
    const Buffer buffer = read_buffer(table);
    LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
    return {buffer, BufferGetLSNAtomic(buffer), read_page(BufferGetPage(buffer))};
}

void write(Relation table, LockedPage& page, const Value& value) {
    wal::require_writable();
    GenericXLogState* const change = GenericXLogStart(table);
    visit_rows(GenericXLogRegisterBuffer(change, page.buffer, 0), [&](Columns& row) {
        row.unix_ms = value.unix_ms;
        row.system_identifier = static_cast<int64>(value.owner.system_identifier);
        row.creation_xid = value.owner.creation_xid;
        row.timeline = static_cast<int32>(value.owner.timeline);
        row.citus_group = value.owner.citus_group;
        row.number = value.owner.number;
        row.confirmed = value.owner.is_confirmed;
        row.origin_ms = value.origin.unix_ms;
        row.watermark_ms = value.watermark_ms;
        row.origin_generators = value.origin.last_generator;
        row.writer = static_cast<int32>(value.writer);
        row.server_start = PgStartTime;
        row.structure = value.structure;
    });
    page.position = GenericXLogFinish(change);
}

void unlock_page(const LockedPage& page) { UnlockReleaseBuffer(page.buffer); }

}  // namespace snowdrift::mark_table
