#include "pg/migration/dependents.hpp"

#include <cstring>
#include <initializer_list>
#include <tuple>

#include "pg/migration/views.hpp"
#include "pg/support/datum.hpp"
#include "pg/support/scan.hpp"
#include "pg/support/tables.hpp"

extern "C" {
#include "access/sysattr.h"
#include "catalog/dependency.h"
#include "catalog/index.h"
#include "catalog/indexing.h"
#include "catalog/objectaddress.h"
#include "catalog/partition.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_index.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_rewrite.h"
#include "catalog/pg_statistic_ext.h"
#include "catalog/pg_type.h"
#include "catalog/pg_type_d.h"
#include "commands/tablecmds.h"
#include "lib/stringinfo.h"
#include "nodes/bitmapset.h"
#include "rewrite/rewriteSupport.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
}

namespace snowdrift {
namespace {

ObjectAddress address_of(const Column& column) {
    return {RelationRelationId, column.table, column.number};
}

struct Dependent {
    ObjectAddress object;
    char type;  ///< of the dependency
};

int compare_dependents(const ListCell* a, const ListCell* b) {
    const auto key = [](const ListCell* cell) {
        const ObjectAddress& object = static_cast<const Dependent*>(lfirst(cell))->object;
        return std::tuple{object.classId, object.objectId, object.objectSubId};
    };
    return key(a) < key(b) ? -1 : key(b) < key(a) ? 1 : 0;
}

/// The objects that depend on an object, in the order in which they were created, as a List of
/// Dependent. For a column, these are the objects that depend on the column, not those that depend
/// on its table.
List* dependents_of(const ObjectAddress& object) {
    List* dependents = NIL;
    (void)find_tuple(
        DependRelationId, DependReferenceIndexId,
        {{Anum_pg_depend_refclassid, ObjectIdGetDatum(object.classId)},
         {Anum_pg_depend_refobjid, ObjectIdGetDatum(object.objectId)}},
        [&](HeapTuple tuple) {
            const auto* const depend =
                reinterpret_cast<const FormData_pg_depend*>(GETSTRUCT(tuple));
            if (object.objectSubId == 0 || object.objectSubId == depend->refobjsubid)
                dependents =
                    lappend(dependents,
                            allocate(Dependent{{depend->classid, depend->objid, depend->objsubid},
                                               depend->deptype}));
            return false;
        });
    list_sort(dependents, compare_dependents);
    return dependents;
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
    // A column of a view is a part of the view, such as a row of another view.
    if (whole.classId == RelationRelationId && get_rel_relkind(whole.objectId) == RELKIND_VIEW)
        whole.objectSubId = 0;
    return whole;
}

/// A field of an object's row in a catalog; `missing` if there is no row.
template <typename Form, typename Field>
Field read_field(SysCacheIdentifier cache, Oid object, Field Form::*field, Field missing) {
    HeapTuple row = SearchSysCache1(cache, ObjectIdGetDatum(object));
    if (row == nullptr) return missing;
    const Field value = reinterpret_cast<const Form*>(GETSTRUCT(row))->*field;
    ReleaseSysCache(row);
    return value;
}

template <typename Field>
Field read_constraint(Oid constraint, Field FormData_pg_constraint::*field, Field missing) {
    return read_field(CONSTROID, constraint, field, missing);
}

bool is_same(const ObjectAddress& a, const ObjectAddress& b) {
    return a.classId == b.classId && a.objectId == b.objectId && a.objectSubId == b.objectSubId;
}

/// Whether PostgreSQL changes the object together with the type of the column, and evaluates it, if
/// at all, for the rows of its table. An expression in another table, whose owner may be another
/// role, can read the column of a row value.
bool is_rebuilt(const ObjectAddress& object, const ObjectAddress& column) {
    switch (object.classId) {
        case RelationRelationId:
            return get_rel_relkind(object.objectId) == RELKIND_SEQUENCE ||
                   IndexGetRelation(object.objectId, true) == column.objectId;
        case ConstraintRelationId:
            return read_constraint(object.objectId, &FormData_pg_constraint::contype, '\0') ==
                       CONSTRAINT_FOREIGN ||
                   read_constraint(object.objectId, &FormData_pg_constraint::conrelid,
                                   InvalidOid) == column.objectId;
        case StatisticExtRelationId:
            return read_field(STATEXTOID, object.objectId, &FormData_pg_statistic_ext::stxrelid,
                              InvalidOid) == column.objectId;
        case AttrDefaultRelationId:  // not that of a generated column
            return visible_object(object).classId == AttrDefaultRelationId &&
                   is_same(GetAttrDefaultColumnAddress(object.objectId), column);
        default:
            return false;
    }
}

constexpr const char* smallint_obstacle = "converts a smallint to integer";

/// Whether one of these expressions in a catalog's row, which it releases, converts a smallint to
/// integer.
bool converts_smallint(SysCacheIdentifier cache, HeapTuple row,
                       std::initializer_list<AttrNumber> columns) {
    if (row == nullptr) return false;
    const char* const call = psprintf(":funcid %u ", static_cast<Oid>(F_INT4_INT2));
    bool result = false;
    for (const AttrNumber column : columns) {
        bool is_null;
        const Datum expression = SysCacheGetAttr(cache, row, column, &is_null);
        result |= !is_null && std::strstr(TextDatumGetCString(expression), call) != nullptr;
    }
    ReleaseSysCache(row);
    return result;
}

/// Whether a view, an index, a constraint or a statistics object converts a smallint to integer.
/// Built again, it would convert a bigint to integer, which fails for IDs.
bool converts_smallint(const ObjectAddress& object) {
    const Datum oid = ObjectIdGetDatum(object.objectId);
    switch (object.classId) {
        case ConstraintRelationId:
            return converts_smallint(CONSTROID, SearchSysCache1(CONSTROID, oid),
                                     {Anum_pg_constraint_conbin});
        case RelationRelationId:
            if (get_rel_relkind(object.objectId) == RELKIND_VIEW)
                return converts_smallint(
                    RULERELNAME,
                    SearchSysCache2(RULERELNAME, oid, CStringGetDatum(ViewSelectRuleName)),
                    {Anum_pg_rewrite_ev_action});
            return converts_smallint(INDEXRELID, SearchSysCache1(INDEXRELID, oid),
                                     {Anum_pg_index_indexprs, Anum_pg_index_indpred});
        case StatisticExtRelationId:
            return converts_smallint(STATEXTOID, SearchSysCache1(STATEXTOID, oid),
                                     {Anum_pg_statistic_ext_stxexprs});
        default:
            return false;
    }
}

/// Whether the object is a constraint that a table has only inherited.
bool is_inherited(const ObjectAddress& object) {
    return object.classId == ConstraintRelationId &&
           !read_constraint(object.objectId, &FormData_pg_constraint::conislocal, true);
}

/// The constraint itself, or that of an index; InvalidOid if there is none.
Oid constraint_of(const ObjectAddress& object) {
    if (object.classId == ConstraintRelationId) return object.objectId;
    return object.classId == RelationRelationId ? get_index_constraint(object.objectId)
                                                : InvalidOid;
}

/// The objects that depend on columns, directly or through other objects. An object precedes the
/// objects on which it depends, so this is the order in which they can be dropped.
class Dependents {
 public:
    Dependents() { initStringInfo(&detail_); }

    /// Add the objects that depend on a column, apart from those that PostgreSQL changes with it.
    void add(const Column& column) {
        is_smallint_ = get_atttype(column.table, column.number) == INT2OID;
        const ObjectAddress address = address_of(column);
        for (const Dependent& dependent : Items<Dependent>{dependents_of(address)}) {
            const ObjectAddress& object = dependent.object;
            if (!is_rebuilt(object, address)) {
                add_visible(object, address, false);
                continue;
            }
            add_users(object);
            if (is_smallint_ && converts_smallint(object)) add_smallint(object, address);
        }
    }

    /// OIDs of the views that can be created again
    List* views() const { return views_; }

    /// The other objects, and what needs them, one a line
    const char* detail() const { return detail_.data; }

 private:
    // NOLINTBEGIN(misc-no-recursion): as deep as the dependencies; PostgreSQL checks the stack

    /// Add an object that converts a smallint; not a partition's copy of an index, or an inherited
    /// constraint, which are dropped with the original.
    void add_smallint(const ObjectAddress& object, const ObjectAddress& needed) {
        const ObjectAddress shown = visible_object(object);  // of an index: its constraint, if any
        if (shown.classId == object.classId && !is_same(shown, object)) return;
        if (is_inherited(shown)) return;
        if (visit(listed_, shown)) add_line(shown, needed, smallint_obstacle);
    }

    /// Add the functions and rules that name a constraint, or that of an index, as in ON CONFLICT
    /// ON CONSTRAINT.
    void add_users(const ObjectAddress& object) {
        const ObjectAddress constraint{ConstraintRelationId, constraint_of(object), 0};
        if (!OidIsValid(constraint.objectId)) return;
        for (const Dependent& user : Items<Dependent>{dependents_of(constraint)})
            if (user.object.classId == ProcedureRelationId ||
                user.object.classId == RewriteRelationId)
                add_visible(user.object, constraint, false);
    }

    /// Add the object that users know as `object`. `needed`: what it depends on. `is_listed`: the
    /// user must drop it, because that depends on an object that cannot be created again.
    void add_visible(const ObjectAddress& object, const ObjectAddress& needed, bool is_listed) {
        const ObjectAddress shown = visible_object(object);
        if (object.classId == TypeRelationId && !is_same(shown, object)) {
            // the type of a view's rows, or their array: other objects can depend on it
            add_dependents(object, needed, is_listed);
            return;
        }
        if (is_same(shown, needed)) return;  // another part of what it depends on
        if (is_inherited(shown)) return;     // it is dropped with the original
        // a copy of a trigger; the original is found at its own table
        if (shown.classId == object.classId && shown.objectId != object.objectId) return;
        add_object(shown, needed, is_listed);
    }

    void add_object(const ObjectAddress& object, const ObjectAddress& needed, bool is_listed) {
        check_stack_depth();
        const char* obstacle = is_listed ? nullptr : obstacle_to_create(object);
        if (!is_listed && obstacle == nullptr && is_smallint_ && converts_smallint(object))
            obstacle = smallint_obstacle;
        is_listed |= obstacle != nullptr;
        if (!visit(is_listed ? listed_ : kept_, object)) return;
        add_dependents(object, object, is_listed);
        if (is_listed)
            add_line(object, needed, obstacle);
        else
            views_ = lappend_oid(views_, object.objectId);
    }

    /// Add what depends on an object, which is `needed` or a part of it.
    void add_dependents(const ObjectAddress& object, const ObjectAddress& needed, bool is_listed) {
        for (const Dependent& dependent : Items<Dependent>{dependents_of(object)})
            add_visible(dependent.object, needed, is_listed);
    }

    // NOLINTEND(misc-no-recursion)

    /// Adds an object to those that were visited. Returns false if it is one of them.
    static bool visit(List*& visited, const ObjectAddress& object) {
        for (const ObjectAddress& other : Items<ObjectAddress>{visited})
            if (is_same(other, object)) return false;
        visited = lappend(visited, allocate(object));
        return true;
    }

    void add_line(const ObjectAddress& object, const ObjectAddress& needed, const char* obstacle) {
        const char* const reason =
            obstacle == nullptr || *obstacle == '\0' ? "" : psprintf(" (%s)", obstacle);
        appendStringInfo(&detail_, "%s%s%s depends on %s", detail_.len > 0 ? "\n" : "",
                         getObjectDescription(&object, false), reason,
                         getObjectDescription(&needed, false));
    }

    bool is_smallint_ = false;  // the column whose dependents are added
    List* views_ = NIL;
    StringInfoData detail_;
    List* kept_ = NIL;    // of ObjectAddress: visited, and not listed
    List* listed_ = NIL;  // of ObjectAddress: visited, and listed
};

/// Ensure that the column is not in the replica identity of a partition, if that is a part of the
/// partitioned table's index: PostgreSQL builds a new index, which is not the replica identity.
void check_replica_identity(Relation table, const Column& column) {
    if (table->rd_rel->relreplident != REPLICA_IDENTITY_INDEX) return;
    if (!get_rel_relispartition(RelationGetReplicaIndex(table))) return;
    if (!bms_is_member(column.number - FirstLowInvalidHeapAttributeNumber,
                       RelationGetIndexAttrBitmap(table, INDEX_ATTR_BITMAP_IDENTITY_KEY)))
        return;
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("cannot alter column \"%s\" because it is in the replica identity of "
                           "partition \"%s\"",
                           column_name(column), RelationGetRelationName(table)),
                    errhint("Run ALTER TABLE %s REPLICA IDENTITY FULL first, and set the index "
                            "again afterwards.",
                            qualified_name(RelationGetRelid(table)))));
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
    check_replica_identity(table, column);
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

List* views_of(List* columns) {
    Dependents dependents;
    for (const Column& column : Items<Column>{columns}) check_table_of(column);
    // A view is visited once, so first for the columns for which it is checked more strictly.
    for (const Oid type : {INT2OID, INT4OID})
        for (const Column& column : Items<Column>{columns})
            if (get_atttype(column.table, column.number) == type) dependents.add(column);
    if (*dependents.detail() == '\0') return dependents.views();
    ereport(ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
             errmsg("cannot convert keys because other objects depend on columns whose types must "
                    "change"),
             errdetail_internal("%s", dependents.detail()),
             errhint("In one transaction, drop these objects in this order, convert the keys, and "
                     "create the objects again in the reverse order.")));
}

bool is_in_partition_key(const Column& column) {
    if (get_rel_relkind(column.table) != RELKIND_PARTITIONED_TABLE) return false;
    Relation table = table_open(column.table, AccessShareLock);
    const bool result = has_partition_attrs(
        table, bms_make_singleton(column.number - FirstLowInvalidHeapAttributeNumber), nullptr);
    table_close(table, AccessShareLock);
    return result;
}

List* owned_sequences(const Column& column, char dependency) {
    List* sequences = NIL;
    for (const Dependent& dependent : Items<Dependent>{dependents_of(address_of(column))})
        if (dependent.object.classId == RelationRelationId && dependent.type == dependency &&
            get_rel_relkind(dependent.object.objectId) == RELKIND_SEQUENCE)
            sequences = lappend_oid(sequences, dependent.object.objectId);
    return sequences;
}

}  // namespace snowdrift
