#include "pg/generators/definition_table.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_class.h"
#include "utils/builtins.h"
#include "utils/rel.h"
}

#include "pg/support/checks.hpp"
#include "pg/support/extension.hpp"
#include "pg/support/relcache_callback.hpp"
#include "pg/support/time.hpp"
#include "pg/types/snowflake_layout_type.hpp"

namespace snowdrift::definitions {

uint64_t version = 1;

namespace {

Oid table_oid = InvalidOid;

void on_invalidation(Oid relation) {
    if (relation == table_oid || !OidIsValid(relation)) ++version;
}

}  // namespace

Relation open_table(LOCKMODE lock) {
    add_relcache_callback(on_invalidation);
    Relation table = extension::open_relation("generator", lock);
    if (table == nullptr)
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
                        errmsg("table \"snowdrift_tables.generator\" does not exist"),
                        errhint("Undo the change, or drop the extension and create it again.")));
    if (table->rd_rel->relkind != RELKIND_RELATION || table->rd_rel->relam != HEAP_TABLE_AM_OID)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("table \"snowdrift_tables.generator\" was altered"),
                        errhint("Undo the change.")));
    table_oid = RelationGetRelid(table);
    return table;
}

std::optional<Datum> Row::get(Column column) const {
    bool is_null;
    const Datum value = heap_getattr(tuple_, column, RelationGetDescr(table_), &is_null);
    if (is_null) return std::nullopt;
    return value;
}

bool Row::has_text(Column column, const char* wanted) const {
    const auto value = get(column);
    return value && std::strcmp(TextDatumGetCString(*value), wanted) == 0;
}

GeneratorId Row::generator() const {
    return {RelationGetRelid(table_), static_cast<uint32_t>(get_number(id))};
}

/// An integer column; nothing if it is null. Raises 22003 if it is not in 0 .. max.
std::optional<uint32_t> Row::get_field(Column column, const char* field, uint32_t max) const {
    const auto value = get(column);
    if (!value) return std::nullopt;
    return check_field(field, DatumGetInt32(*value), max);
}

bool Row::is_uncommitted() const {
    return TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple_->t_data));
}

Definition Row::definition() const {
    Definition read{};
    read.table = RelationGetRelid(table_);
    read.id = static_cast<uint32_t>(get_number(id));
    read.is_uncommitted = is_uncommitted();
    uint32_t max_sequence = UINT16_MAX;
    if (has_text(kind, "sno")) {
        read.kind = GeneratorKind::sno;
        read.partition = get_field(partition, "partition", UINT16_MAX);
    } else {
        read.kind = GeneratorKind::snowflake;
        const auto own_layout = get(layout);
        read.layout = own_layout ? get_layout(*own_layout) : default_layout;
        read.datacenter = get_field(datacenter, "datacenter", read.layout.max_datacenter());
        read.worker = get_field(worker, "worker", read.layout.max_worker());
        max_sequence = read.layout.max_sequence();
    }
    read.sequence_min = *get_field(sequence_min, "sequence_min", max_sequence);
    read.sequence_max = *get_field(sequence_max, "sequence_max", max_sequence);
    check_bounds(read.sequence_min, read.sequence_max);
    read.this_node_only = DatumGetBool(get(this_node_only).value_or(BoolGetDatum(false)));
    if (const auto time = get(origin)) read.origin_ms = unix_ms_ceil(DatumGetTimestampTz(*time));
    return read;
}

}  // namespace snowdrift::definitions
