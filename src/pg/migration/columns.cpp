#include "pg/migration/columns.hpp"

#include "pg/support/datum.hpp"
#include "pg/support/scan.hpp"

extern "C" {
#include "catalog/indexing.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace snowdrift {
namespace {

int compare_columns(const ListCell* a, const ListCell* b) {
    // The columns of a List differ.
    return *static_cast<const Column*>(lfirst(a)) < *static_cast<const Column*>(lfirst(b)) ? -1 : 1;
}

}  // namespace

Column find_column(Oid table, const char* name) {
    const AttrNumber number = get_attnum(table, name);
    if (number == InvalidAttrNumber)
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
                        errmsg("column \"%s\" of relation \"%s\" does not exist", name,
                               get_rel_name(table))));
    return {table, number};
}

void add_column(List*& columns, const Column& column) {
    for (const Column& other : Items<Column>{columns})
        if (other == column) return;
    columns = lappend(columns, allocate(column));
}

const char* column_name(const Column& column) {
    return get_attname(column.table, column.number, false);
}

bool is_inherited(const Column& column) {
    HeapTuple tuple =
        SearchSysCache2(ATTNUM, ObjectIdGetDatum(column.table), Int16GetDatum(column.number));
    if (tuple == nullptr) return false;
    const bool result = reinterpret_cast<Form_pg_attribute>(GETSTRUCT(tuple))->attinhcount > 0;
    ReleaseSysCache(tuple);
    return result;
}

List* family_of(const Column& column) {
    const char* const name = column_name(column);
    List* family = NIL;
    ListCell* cell;
    foreach (cell, find_all_inheritors(column.table, NoLock, nullptr)) {
        const Oid table = lfirst_oid(cell);
        const AttrNumber number = get_attnum(table, name);
        if (number != InvalidAttrNumber) family = lappend(family, allocate(Column{table, number}));
    }
    return family;
}

void add_origins(List*& origins, const Column& column) {
    List* columns = NIL;
    add_column(columns, column);
    // The loop also visits the columns that it adds.
    for (const Column& member : Items<Column>{columns}) {
        if (!is_inherited(member)) {
            add_column(origins, member);
            continue;
        }
        const char* const name = column_name(member);
        (void)find_tuple(
            InheritsRelationId, InheritsRelidSeqnoIndexId,
            {{Anum_pg_inherits_inhrelid, ObjectIdGetDatum(member.table)}}, [&](HeapTuple tuple) {
                const Oid parent = reinterpret_cast<Form_pg_inherits>(GETSTRUCT(tuple))->inhparent;
                const AttrNumber number = get_attnum(parent, name);
                if (number != InvalidAttrNumber) add_column(columns, {parent, number});
                return false;
            });
    }
}

List* read_references() {
    List* references = NIL;
    (void)find_tuple(ConstraintRelationId, InvalidOid, {}, [&](HeapTuple tuple) {
        const auto* const constraint =
            reinterpret_cast<const FormData_pg_constraint*>(GETSTRUCT(tuple));
        if (constraint->contype != CONSTRAINT_FOREIGN) return false;
        int count;
        AttrNumber from[INDEX_MAX_KEYS];
        AttrNumber to[INDEX_MAX_KEYS];
        DeconstructFkConstraintRow(tuple, &count, from, to, nullptr, nullptr, nullptr, nullptr,
                                   nullptr);
        for (int i = 0; i < count; ++i)
            references = lappend(references, allocate(Reference{{constraint->conrelid, from[i]},
                                                                {constraint->confrelid, to[i]}}));
        return false;
    });
    return references;
}

List* with_referring_columns(List* keys, List* references) {
    List* columns = list_copy(keys);
    // The loop also visits the columns that it adds.
    for (const Column& column : Items<Column>{columns}) {
        Assert(!is_inherited(column));
        for (const Column& member : Items<Column>{family_of(column)})
            for (const Reference& reference : Items<Reference>{references})
                if (reference.to == member) add_origins(columns, reference.from);
    }
    list_sort(columns, compare_columns);
    return columns;
}

}  // namespace snowdrift
