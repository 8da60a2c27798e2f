#include "pg/named/definition_table.hpp"

#include <cstring>

#include "pg/support/checks.hpp"
#include "pg/support/extension.hpp"
#include "pg/support/relcache_callback.hpp"
#include "pg/support/tables.hpp"
#include "pg/support/time.hpp"
#include "pg/types/snowflake_layout_type.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type_d.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
}

namespace snowdrift::definitions {

uint64_t version = 1;

namespace {

Oid table_oid = InvalidOid;

void on_invalidation(Oid relation) {
    if (relation == table_oid || !OidIsValid(relation)) ++version;
}

/// An integer column; nothing if it is null.
std::optional<uint32_t> get_field(const std::optional<Datum>& value) {
    if (!value) return std::nullopt;
    return DatumGetUInt32(*value);
}

/// Ensure that a field is in 0 .. max, if it is set. Raises 22003.
void check(const char* name, std::optional<uint32_t> value, uint32_t max) {
    if (value) (void)check_field(name, static_cast<int32>(*value), max);
}

/// Whether a type is snowflake_layout, whatever its name is.
bool is_layout_type(Oid type) {
    if (!OidIsValid(type)) return false;
    Oid output;
    bool is_varlena;
    getTypeOutputInfo(type, &output, &is_varlena);
    return extension::is_ours(output, "snowdrift_snowflake_layout_out");
}

/// Whether the columns have their types.
bool has_all_columns(TupleDesc table) {
    constexpr int layout = static_cast<int>(Column::layout);
    if (table->natts < column_count) return false;
    const Oid layout_type = TupleDescAttr(table, layout)->atttypid;
    const Oid types[column_count] = {TEXTOID, INT4OID, TEXTOID,        layout_type,
                                     INT4OID, INT4OID, INT4OID,        INT4OID,
                                     INT4OID, BOOLOID, TIMESTAMPTZOID, BOOLOID};
    return is_layout_type(layout_type) && has_columns(table, types);
}

}  // namespace

Relation open_table(LOCKMODE lock) {
    add_relcache_callback(on_invalidation);
    Relation table = extension::open_relation("generator", lock);
    if (table == nullptr)
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
                        errmsg("table \"snowdrift_tables.generator\" does not exist"),
                        errhint("Undo the change, or drop the extension and create it again.")));
    if (table->rd_rel->relkind != RELKIND_RELATION || table->rd_rel->relam != HEAP_TABLE_AM_OID ||
        !has_all_columns(RelationGetDescr(table)))
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("table \"snowdrift_tables.generator\" was altered"),
                        errhint("Undo the change.")));
    table_oid = RelationGetRelid(table);
    return table;
}

uint32_t Row::number(Column column) const {
    return DatumGetUInt32((*this)[column].value_or(Datum{0}));
}

bool Row::has_text(Column column, const char* wanted) const {
    const auto& value = (*this)[column];
    return value && std::strcmp(TextDatumGetCString(*value), wanted) == 0;
}

Definition Row::unchecked_definition() const {
    const Row& row = *this;
    Definition read{};
    read.table = table;
    read.id = number(Column::id);
    read.kind = kind();
    // restore() updates rows.
    read.is_new = tuple != nullptr && (tuple->t_data->t_infomask & HEAP_UPDATED) == 0 &&
                  TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple->t_data));
    if (read.kind == slots::Kind::sno) {
        read.partition = get_field(row[Column::partition]);
    } else {
        const auto& own_layout = row[Column::layout];
        read.layout = own_layout ? get_layout(*own_layout) : default_layout;
        read.datacenter = get_field(row[Column::datacenter]);
        read.worker = get_field(row[Column::worker]);
    }
    read.sequence_min = get_field(row[Column::sequence_min]).value_or(0);
    read.sequence_max = get_field(row[Column::sequence_max]).value_or(read.max_sequence());
    read.this_node_only = DatumGetBool(row[Column::this_node_only].value_or(BoolGetDatum(false)));
    read.spread = DatumGetBool(row[Column::spread].value_or(BoolGetDatum(false)));
    if (const auto& time = row[Column::origin])
        read.origin_ms = timestamp_ceil_ms(DatumGetTimestampTz(*time));
    return read;
}

Definition Row::definition() const {
    const Definition read = unchecked_definition();
    check("partition", read.partition, UINT16_MAX);
    check("datacenter", read.datacenter, read.layout.max_datacenter());
    check("worker", read.worker, read.layout.max_worker());
    check("sequence_min", read.sequence_min, read.max_sequence());
    check("sequence_max", read.sequence_max, read.max_sequence());
    return read;
}

Row read_row(Relation table, HeapTuple tuple) {
    Row row{RelationGetRelid(table), tuple, {}};
    for (int i = 0; i < column_count; ++i) row.columns[i] = get_column(table, tuple, i + 1);
    return row;
}

}  // namespace snowdrift::definitions
