#include "pg/support/insert_row.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "catalog/indexing.h"
#include "storage/lmgr.h"
#include "utils/rel.h"
}

namespace snowdrift {
namespace {

/// Ensure that rows with `column_count` columns can be inserted without the executor.
void check_table(Relation table, int column_count) {
    auto* const columns = RelationGetDescr(table);
    bool is_altered = columns->natts < column_count;
    for (int i = column_count; i < columns->natts; ++i)
        is_altered |= TupleDescAttr(columns, i)->attnotnull;
    List* const indexes = RelationGetIndexList(table);
    ListCell* cell;
    foreach (cell, indexes) {
        Relation index = index_open(lfirst_oid(cell), AccessShareLock);
        is_altered |=
            RelationGetIndexExpressions(index) != NIL || RelationGetIndexPredicate(index) != NIL;
        index_close(index, AccessShareLock);
    }
    if (is_altered)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("table \"snowdrift_tables.%s\" was altered",
                               RelationGetRelationName(table)),
                        errhint("Drop the columns and indexes that were added to it.")));
}

}  // namespace

void insert_row(Relation table, std::span<const std::optional<Datum>> columns) {
    Assert(CheckRelationLockedByMe(table, RowExclusiveLock, true));
    check_table(table, static_cast<int>(columns.size()));
    const auto all_columns = static_cast<size_t>(RelationGetDescr(table)->natts);
    auto* const values = static_cast<Datum*>(palloc0(all_columns * sizeof(Datum)));
    auto* const is_null = static_cast<bool*>(palloc0(all_columns * sizeof(bool)));
    for (size_t i = 0; i < all_columns; ++i) {
        is_null[i] = i >= columns.size() || !columns[i];
        if (!is_null[i]) values[i] = *columns[i];
    }
    CatalogTupleInsert(table, heap_form_tuple(RelationGetDescr(table), values, is_null));
}

}  // namespace snowdrift
