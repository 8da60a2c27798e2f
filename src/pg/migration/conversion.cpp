#include "pg/migration/conversion.hpp"

#include <cstring>

#include "pg/migration/dependents.hpp"
#include "pg/migration/views.hpp"
#include "pg/support/datum.hpp"
#include "pg/support/tables.hpp"

extern "C" {
#include "access/sysattr.h"
#include "catalog/dependency.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type_d.h"
#include "nodes/bitmapset.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
}

namespace snowdrift {
namespace {

bool is_narrow(const Column& column) {
    const Oid type = getBaseType(get_atttype(column.table, column.number));
    return type == INT2OID || type == INT4OID;
}

bool is_integer(const Column& column) {
    return is_narrow(column) || getBaseType(get_atttype(column.table, column.number)) == INT8OID;
}

/// Ensure that an integer column's type is not a domain, which can restrict its values.
void check_no_domain(const Column& column) {
    const Oid type = get_atttype(column.table, column.number);
    if (type == getBaseType(type)) return;
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("column \"%s\" of table \"%s\" must not be of a domain type",
                           column_name(column), get_rel_name(column.table)),
                    errdetail("The column is of type %s.", format_type_be(type)),
                    errhint("Change the column's type to bigint first.")));
}

void check_is_table(Oid relation) {
    check_exists(relation);
    const char kind = get_rel_relkind(relation);
    if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE)
        ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                        errmsg("\"%s\" is not a table", get_rel_name(relation))));
}

/// Ensure that a key does not refer to another key. Raises 42830.
void check_no_reference(const Column& key, List* references) {
    for (const Column& member : Items<Column>{family_of(key)})
        for (const Reference& reference : Items<Reference>{references})
            if (reference.from == member)
                ereport(ERROR,
                        (errcode(ERRCODE_INVALID_FOREIGN_KEY),
                         errmsg("cannot convert column \"%s\" of table \"%s\" because it "
                                "refers to table \"%s\"",
                                column_name(key), get_rel_name(member.table),
                                get_rel_name(reference.to.table)),
                         errhint("Convert the referenced column instead. If the columns refer "
                                 "to each other, drop one of the foreign keys first.")));
}

/// Returns "ALTER COLUMN name" and the action.
const char* alter(const Column& column, const char* action) {
    return psprintf("ALTER COLUMN %s %s", quote_identifier(column_name(column)), action);
}

void add_alter_table(List*& changes, Oid table, const char* action) {
    changes = lappend(changes, psprintf("ALTER TABLE %s %s", qualified_name(table), action));
}

/// The sequences of the keys' defaults.
struct Sequences {
    List* used = NIL;      ///< of KeySequence: the sequences that the defaults use
    List* owned = NIL;     ///< OIDs of the sequences that the columns own
    List* identity = NIL;  ///< OIDs of those that DROP IDENTITY drops
};

/// Add the statements that change what generates a key.
void add_default(Conversion& conversion, Sequences& sequences, const Column& key,
                 const KeyGenerator& generator) {
    const char* replaced = "";  // the key's default, which most members have inherited
    const char* identity = "";
    bool is_new = false;
    for (const Column& member : Items<Column>{family_of(key)}) {
        const KeyDefault current = read_default(member, generator);
        is_new |= !current.is_generator;
        if (current.other != nullptr && std::strcmp(current.other, replaced) != 0)
            conversion.replaced =
                lappend(conversion.replaced, allocate(ReplacedDefault{member, current.other}));
        if (member == key && current.other != nullptr) replaced = current.other;
        sequences.owned = list_concat(sequences.owned, owned_sequences(member, DEPENDENCY_AUTO));
        sequences.identity =
            list_concat(sequences.identity, owned_sequences(member, DEPENDENCY_INTERNAL));
        if (OidIsValid(current.sequence))
            sequences.used =
                lappend(sequences.used, allocate(KeySequence{member, current.sequence}));
        if (!current.is_identity) continue;
        if (member == key)
            identity = psprintf("%s, ", alter(member, "DROP IDENTITY"));
        else if (!partitions_share_identity || !get_rel_relispartition(member.table))
            add_alter_table(conversion.changes, member.table, alter(member, "DROP IDENTITY"));
    }
    if (!is_new) return;
    add_column(conversion.new_keys, key);
    add_alter_table(
        conversion.changes, key.table,
        psprintf("%s%s", identity, alter(key, psprintf("SET DEFAULT %s", generator.call))));
}

/// Add the statements that change what generates the keys. They take little time, and run before
/// the statements that rewrite tables, so their errors occur early. Several keys can use a
/// sequence, so all defaults change before a sequence is dropped. DROP IDENTITY drops one while
/// defaults change, so the defaults that use it are dropped first.
void add_defaults(Conversion& conversion, List* keys, const KeyGenerator& generator) {
    Sequences sequences;
    for (const Column& key : Items<Column>{keys})
        add_default(conversion, sequences, key, generator);
    List* changes = NIL;
    List* done = NIL;
    for (const KeySequence& use : Items<KeySequence>{sequences.used}) {
        if (list_member_oid(sequences.identity, use.sequence)) {
            add_alter_table(changes, use.key.table, alter(use.key, "DROP DEFAULT"));
            continue;
        }
        if (list_member_oid(done, use.sequence)) continue;
        done = lappend_oid(done, use.sequence);
        if (list_member_oid(sequences.owned, use.sequence))
            conversion.changes = lappend(
                conversion.changes, psprintf("DROP SEQUENCE %s", qualified_name(use.sequence)));
        else
            conversion.kept_sequences = lappend(conversion.kept_sequences, allocate(use));
    }
    conversion.changes = list_concat(changes, conversion.changes);
}

/// Add the changes of the types of `columns`, one per table, so that each table is rewritten once.
/// The columns of a table follow each other.
void add_types(Conversion& conversion, List* columns) {
    Oid table = InvalidOid;
    for (const Column& column : Items<Column>{columns}) {
        const char* const action = alter(column, "TYPE bigint");
        if (column.table == table) {
            ListCell* const last = list_last_cell(conversion.changes);
            lfirst(last) = psprintf("%s, %s", static_cast<char*>(lfirst(last)), action);
        } else {
            add_alter_table(conversion.changes, column.table, action);
        }
        table = column.table;
    }
}

/// The tables to lock, in the order of their OIDs, in which all conversions lock them. A new
/// default locks the key's table. A change of type locks the column's table, and the tables of the
/// foreign keys that PostgreSQL creates again.
List* tables_to_lock(List* new_keys, List* widened, List* references) {
    List* columns = list_concat_copy(new_keys, widened);
    for (const Column& column : Items<Column>{widened}) {
        for (const Column& member : Items<Column>{family_of(column)})
            for (const Reference& reference : Items<Reference>{references}) {
                if (reference.from == member) add_origins(columns, reference.to);
                if (reference.to == member) add_origins(columns, reference.from);
            }
    }
    List* tables = NIL;
    for (const Column& column : Items<Column>{columns})
        tables = list_append_unique_oid(tables, column.table);
    list_sort(tables, list_oid_cmp);
    return tables;
}

/// Ensure that the current user, with whose privileges the conversion runs, is the owner of
/// `tables` and of those that inherit from them. PostgreSQL calls functions in the constraints and
/// indexes of all these tables when it plans the query for the largest key, rewrites tables and
/// checks foreign keys. Raises 42501 with the list of the other tables.
void check_owners(const List* tables) {
    List* all = NIL;
    ListCell* cell;
    foreach (cell, tables)
        all = list_concat_unique_oid(all, find_all_inheritors(lfirst_oid(cell), NoLock, nullptr));
    StringInfoData detail;
    initStringInfo(&detail);
    foreach (cell, all) {
        const Oid owner = owner_of(lfirst_oid(cell));
        if (owner == GetUserId()) continue;
        const ObjectAddress table{RelationRelationId, lfirst_oid(cell), 0};
        appendStringInfo(&detail, "%s%s belongs to role %s", detail.len > 0 ? "\n" : "",
                         getObjectDescription(&table, false), GetUserNameFromId(owner, false));
    }
    if (detail.len == 0) return;
    ereport(
        ERROR,
        (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
         errmsg("cannot convert keys because other roles own tables that the conversion changes or "
                "checks"),
         errdetail_internal("%s", detail.data),
         errhint("If you trust the functions in their constraints and indexes, make %s the owner "
                 "of these tables first.",
                 GetUserNameFromId(GetUserId(), false))));
}

const char* lock_statement(const List* tables) {
    Assert(tables != NIL);
    StringInfoData statement;
    initStringInfo(&statement);
    ListCell* cell;
    foreach (cell, tables)
        appendStringInfo(&statement, "%s%s", statement.len == 0 ? "LOCK TABLE " : ", ",
                         qualified_name(lfirst_oid(cell)));
    appendStringInfoString(&statement, " IN ACCESS EXCLUSIVE MODE");
    return statement.data;
}

/// The statement that sets the present search path. Its names need not be quoted, as those of a SET
/// statement must be.
char* present_path_statement() {
    return psprintf("SELECT pg_catalog.set_config('search_path', %s, true)",
                    quote_literal_cstr(GetConfigOption("search_path", false, false)));
}

}  // namespace

Column find_key(Oid table, const char* name) {
    check_owner(table);
    check_is_table(table);
    const Column key = find_column(table, name);
    if (!is_integer(key))
        ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                        errmsg("column \"%s\" of table \"%s\" must be of type smallint, integer or "
                               "bigint",
                               name, get_rel_name(table)),
                        errdetail("The column is of type %s.",
                                  format_type_be(get_atttype(table, key.number)))));
    check_no_domain(key);
    if (is_inherited(key))
        ereport(ERROR, (errcode(ERRCODE_INVALID_TABLE_DEFINITION),
                        errmsg("cannot alter inherited column \"%s\"", name),
                        errhint("Convert the column of the table that \"%s\" inherits from.",
                                get_rel_name(table))));
    return key;
}

List* find_keys(Oid table, const KeyGenerator& generator) {
    check_is_table(table);
    List* keys = NIL;
    Oid constraint;
    const Bitmapset* const columns = get_primary_key_attnos(table, true, &constraint);
    int member = -1;
    while ((member = bms_next_member(columns, member)) >= 0) {
        const Column column{table,
                            static_cast<AttrNumber>(member + FirstLowInvalidHeapAttributeNumber)};
        if (is_integer(column) && !is_inherited(column) && is_generated(column, generator))
            add_column(keys, find_key(table, column_name(column)));
    }
    return keys;
}

Conversion plan_conversion(List* keys, const KeyGenerator& generator) {
    List* const references = read_references();
    List* widened = NIL;
    List* widened_families = NIL;
    for (const Column& key : Items<Column>{keys}) check_no_reference(key, references);
    for (const Column& column : Items<Column>{with_referring_columns(keys, references)}) {
        if (!is_narrow(column)) continue;
        check_no_domain(column);
        add_column(widened, column);
        widened_families = list_concat(widened_families, family_of(column));
    }

    Conversion conversion;
    check_owners(tables_to_lock(keys, widened, references));
    add_defaults(conversion, keys, generator);
    conversion.tables = tables_to_lock(conversion.new_keys, widened, references);
    conversion.views = views_of(widened_families);
    add_types(conversion, widened);
    return conversion;
}

List* statements_of(const Conversion& conversion) {
    if (conversion.changes == NIL) return NIL;
    List* statements = NIL;
    List* created = NIL;
    ListCell* cell;
    foreach (cell, conversion.views) {
        const Oid view = lfirst_oid(cell);
        statements = lappend(statements, psprintf("DROP VIEW %s", qualified_name(view)));
        created = list_concat(statements_to_create(view), created);
    }
    if (created != NIL) {
        created = lcons(pstrdup(catalog_path_statement), created);
        created = lappend(created, present_path_statement());
    }
    statements = lappend(statements, pstrdup(lock_statement(conversion.tables)));
    return list_concat(list_concat(statements, conversion.changes), created);
}

}  // namespace snowdrift
