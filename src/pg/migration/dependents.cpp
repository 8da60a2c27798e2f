#include "pg/migration/dependents.hpp"

#include "pg/support/scan.hpp"

extern "C" {
#include "access/sysattr.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/objectaddress.h"
#include "catalog/partition.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_statistic_ext.h"
#include "commands/tablecmds.h"
#include "nodes/value.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
}

namespace snowdrift {
namespace {

/// Calls visit(ObjectAddress, type of dependency) for each object that depends on a column.
template <typename Visit>
void for_each_dependent(const Column& column, Visit visit) {
    (void)find_tuple(DependRelationId, DependReferenceIndexId,
                     {{Anum_pg_depend_refclassid, ObjectIdGetDatum(RelationRelationId)},
                      {Anum_pg_depend_refobjid, ObjectIdGetDatum(column.table)},
                      {Anum_pg_depend_refobjsubid, Int32GetDatum(column.number), F_INT4EQ}},
                     [&](HeapTuple tuple) {
                         const auto* const depend =
                             reinterpret_cast<const FormData_pg_depend*>(GETSTRUCT(tuple));
                         visit({depend->classid, depend->objid, depend->objsubid}, depend->deptype);
                         return false;
                     });
}

/// The object that users know: the view of a rule, the generated column of an expression, or the
/// original of a partition's trigger. For other objects, the object itself.
ObjectAddress visible_object(ObjectAddress object) {
    ObjectAddress whole = object;
    (void)find_tuple(DependRelationId, DependDependerIndexId,
                     {{Anum_pg_depend_classid, ObjectIdGetDatum(object.classId)},
                      {Anum_pg_depend_objid, ObjectIdGetDatum(object.objectId)}},
                     [&](HeapTuple tuple) {
                         const auto* const depend =
                             reinterpret_cast<const FormData_pg_depend*>(GETSTRUCT(tuple));
                         if (depend->deptype == DEPENDENCY_INTERNAL ||
                             depend->deptype == DEPENDENCY_PARTITION_PRI)
                             whole = {depend->refclassid, depend->refobjid, depend->refobjsubid};
                         return false;
                     });
    return whole;
}

/// Whether PostgreSQL changes the object together with the type of a column.
bool is_rebuilt(const ObjectAddress& object) {
    switch (object.classId) {
        case RelationRelationId:  // indexes and sequences
        case ConstraintRelationId:
        case StatisticExtRelationId:
            return true;
        case AttrDefaultRelationId:  // a default depends on its own column only
            return visible_object(object).classId == AttrDefaultRelationId;
        default:
            return false;
    }
}

/// Append the objects that prevent a change of a column's type to a List of String.
void add_dependents(List*& lines, const Column& column) {
    const ObjectAddress address{RelationRelationId, column.table, column.number};
    for_each_dependent(column, [&](const ObjectAddress& object, char) {
        if (is_rebuilt(object)) return;
        const ObjectAddress shown = visible_object(object);
        // a copy of a trigger; the original is found at its own table
        if (shown.classId == object.classId && shown.objectId != object.objectId) return;
        // the column's own expression
        if (shown.objectId == column.table && shown.objectSubId == column.number) return;
        char* const line = psprintf("%s depends on %s", getObjectDescription(&shown, false),
                                    getObjectDescription(&address, false));
        lines = list_append_unique(lines, makeString(line));
    });
}

/// Ensure that the type of a column can be changed, apart from objects that depend on it.
void check_table_of(const Column& column) {
    Relation table = table_open(column.table, AccessShareLock);
    if (OidIsValid(table->rd_rel->reloftype))
        ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                        errmsg("cannot alter column type of typed table"),
                        errdetail("The type of column \"%s\" of table \"%s\" must change.",
                                  column_name(column), RelationGetRelationName(table))));
    // Raises 0A000 if a column of another table has the type of this table's rows.
    find_composite_type_dependencies(table->rd_rel->reltype, table, nullptr);
    table_close(table, AccessShareLock);
    if (is_in_partition_key(column))
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_TABLE_DEFINITION),
                 errmsg("cannot alter column \"%s\" because it is part of the partition key of "
                        "relation \"%s\"",
                        column_name(column), get_rel_name(column.table)),
                 errhint("Move the rows to a partitioned table in which the column is of type "
                         "bigint.")));
}

}  // namespace

void check_types_can_change(const Column& key, List* columns) {
    List* lines = NIL;
    for (const Column& column : Items<Column>{columns}) {
        check_table_of(column);
        add_dependents(lines, column);
    }
    if (lines == NIL) return;
    StringInfoData detail;
    initStringInfo(&detail);
    ListCell* cell;
    foreach (cell, lines)
        appendStringInfo(&detail, "%s%s", detail.len > 0 ? "\n" : "", strVal(lfirst(cell)));
    ereport(ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
             errmsg("cannot convert column \"%s\" of table \"%s\" because other objects depend on "
                    "columns whose types must change",
                    column_name(key), get_rel_name(key.table)),
             errdetail_internal("%s", detail.data),
             errhint("In one transaction, drop these objects, convert the column, and create the "
                     "objects again.")));
}

bool is_in_partition_key(const Column& column) {
    if (get_rel_relkind(column.table) != RELKIND_PARTITIONED_TABLE) return false;
    Relation table = table_open(column.table, AccessShareLock);
    const bool result = has_partition_attrs(
        table, bms_make_singleton(column.number - FirstLowInvalidHeapAttributeNumber), nullptr);
    table_close(table, AccessShareLock);
    return result;
}

List* owned_sequences(const Column& column) {
    List* sequences = NIL;
    for_each_dependent(column, [&](const ObjectAddress& object, char type) {
        if (object.classId == RelationRelationId && type == DEPENDENCY_AUTO &&
            get_rel_relkind(object.objectId) == RELKIND_SEQUENCE)
            sequences = lappend_oid(sequences, object.objectId);
    });
    return sequences;
}

}  // namespace snowdrift
