// The SQL function snowdrift.convert_column(), which makes a serial or identity key generate
// Snowflake IDs.
#include <optional>

#include "pg/migration/columns.hpp"
#include "pg/migration/dependents.hpp"
#include "pg/migration/key_default.hpp"
#include "pg/support/datum.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/row.hpp"
#include "pg/support/tables.hpp"

extern "C" {
#include "access/table.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type_d.h"
#include "commands/defrem.h"
#include "executor/spi.h"
#include "storage/lmgr.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
}

using namespace snowdrift;

namespace {

/// A statement that changes a relation.
struct Change {
    Oid relation;
    const char* statement;
};

/// The necessary changes.
struct Conversion {
    List* tables = NIL;   ///< OIDs of the tables to lock, without inheriting tables
    List* changes = NIL;  ///< of Change, in the order in which they run
    bool sets_default = false;
    List* kept_sequences = NIL;  ///< OIDs of the sequences that defaults use but columns don't own
};

bool is_narrow(const Column& column) {
    const Oid type = getBaseType(get_atttype(column.table, column.number));
    return type == INT2OID || type == INT4OID;
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

/// The column `name` of a table, which must be usable as a key. Raises 42P01, 42501, 42809, 42703,
/// 42804 or 42P16.
Column find_key(Oid table, const char* name) {
    check_owner(table);
    const char* const table_name = get_rel_name(table);
    const char kind = get_rel_relkind(table);
    if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE)
        ereport(ERROR,
                (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("\"%s\" is not a table", table_name)));
    const Column key = find_column(table, name);
    const Oid type = get_atttype(key.table, key.number);
    if (!is_narrow(key) && getBaseType(type) != INT8OID)
        ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                        errmsg("column \"%s\" of table \"%s\" must be of type smallint, integer or "
                               "bigint",
                               name, table_name),
                        errdetail("The column is of type %s.", format_type_be(type))));
    check_no_domain(key);
    if (is_inherited(key))
        ereport(ERROR, (errcode(ERRCODE_INVALID_TABLE_DEFINITION),
                        errmsg("cannot alter inherited column \"%s\"", name),
                        errhint("Convert the column of the table that \"%s\" inherits from.",
                                table_name)));
    return key;
}

/// Ensure that the key does not refer to another key. Raises 42830.
void check_no_reference(const Column& key, List* family, List* references) {
    for (const Column& member : Items<Column>{family})
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

void add_change(List*& changes, Oid relation, const char* statement) {
    changes = lappend(changes, allocate(Change{relation, statement}));
}

void add_alter_table(List*& changes, Oid table, const char* action) {
    add_change(changes, table, psprintf("ALTER TABLE %s %s", qualified_name(table), action));
}

/// Add the statements that change what generates the key. They take little time, and run before the
/// statements that rewrite tables, so their errors occur early.
void add_default(Conversion& conversion, const Column& key, List* family,
                 const KeyGenerator& generator) {
    const char* identity = "";
    List* owned = NIL;  // sequences that the columns own
    List* used = NIL;   // sequences that the defaults use
    for (const Column& member : Items<Column>{family}) {
        const KeyDefault current = read_default(member, generator);
        conversion.sets_default |= !current.is_generator;
        owned = list_concat(owned, owned_sequences(member));
        if (OidIsValid(current.sequence)) used = list_append_unique_oid(used, current.sequence);
        if (!current.is_identity) continue;
        if (member == key)
            identity = psprintf("%s, ", alter(member, "DROP IDENTITY"));
        else if (!partitions_share_identity || !get_rel_relispartition(member.table))
            add_alter_table(conversion.changes, member.table, alter(member, "DROP IDENTITY"));
    }
    conversion.kept_sequences = list_difference_oid(used, owned);
    List* const dropped = list_difference_oid(used, conversion.kept_sequences);
    if (!conversion.sets_default) return;

    add_alter_table(
        conversion.changes, key.table,
        psprintf("%s%s", identity, alter(key, psprintf("SET DEFAULT %s", generator.call))));
    ListCell* cell;
    foreach (cell, dropped)
        add_change(conversion.changes, lfirst_oid(cell),
                   psprintf("DROP SEQUENCE %s", qualified_name(lfirst_oid(cell))));
}

/// The changes of the types of `columns`, one per table. The columns of a table follow each other.
List* type_changes(List* columns) {
    List* changes = NIL;
    for (const Column& column : Items<Column>{columns}) {
        const char* const action = alter(column, "TYPE bigint");
        auto* const last = changes == NIL ? nullptr : static_cast<Change*>(llast(changes));
        if (last != nullptr && last->relation == column.table)
            last->statement = psprintf("%s, %s", last->statement, action);
        else
            add_alter_table(changes, column.table, action);
    }
    return changes;
}

/// The tables to lock: the key's table first, then the tables that a change of type locks, in the
/// order of their OIDs. A change of type locks the column's table, and the tables of the foreign
/// keys that PostgreSQL creates again.
List* tables_to_lock(const Column& key, List* widened, List* references) {
    List* columns = list_copy(widened);
    for (const Column& column : Items<Column>{widened}) {
        for (const Column& member : Items<Column>{family_of(column)})
            for (const Reference& reference : Items<Reference>{references}) {
                if (reference.from == member) add_origins(columns, reference.to);
                if (reference.to == member) add_origins(columns, reference.from);
            }
    }
    List* others = NIL;
    for (const Column& column : Items<Column>{columns})
        if (column.table != key.table) others = list_append_unique_oid(others, column.table);
    list_sort(others, list_oid_cmp);
    return lcons_oid(key.table, others);
}

/// Ensure that the current user, with whose privileges the conversion runs, is the owner of all
/// tables to lock and of those that inherit from them. PostgreSQL calls functions in the
/// constraints and indexes of all these tables when it plans the query for the largest key,
/// rewrites tables and checks foreign keys. Raises 42501 with the list of the other tables.
void check_owners(const Column& key, const List* tables) {
    Assert(linitial_oid(tables) == key.table && owner_of(key.table) == GetUserId());
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
         errmsg("cannot convert column \"%s\" of table \"%s\" because other roles own tables "
                "that the conversion changes or checks",
                column_name(key), get_rel_name(key.table)),
         errdetail_internal("%s", detail.data),
         errhint("If you trust the functions in their constraints and indexes, make %s the owner "
                 "of these tables first.",
                 GetUserNameFromId(GetUserId(), false))));
}

const char* lock_statement(const List* tables) {
    StringInfoData statement;
    initStringInfo(&statement);
    ListCell* cell;
    foreach (cell, tables)
        appendStringInfo(&statement, "%s%s", statement.len == 0 ? "LOCK TABLE " : ", ",
                         qualified_name(lfirst_oid(cell)));
    appendStringInfoString(&statement, " IN ACCESS EXCLUSIVE MODE");
    return statement.data;
}

Conversion plan_conversion(const Column& key, const KeyGenerator& generator) {
    List* const references = read_references();
    List* const key_family = family_of(key);
    check_no_reference(key, key_family, references);

    List* const columns = with_referring_columns(key, references);
    List* widened = NIL;
    List* widened_families = NIL;
    for (const Column& column : Items<Column>{columns}) {
        if (!is_narrow(column)) continue;
        check_no_domain(column);
        add_column(widened, column);
        widened_families = list_concat(widened_families, family_of(column));
    }

    Conversion conversion;
    conversion.tables = tables_to_lock(key, widened, references);
    check_owners(key, conversion.tables);
    add_default(conversion, key, key_family, generator);
    check_types_can_change(key, widened_families);
    conversion.changes = list_concat(conversion.changes, type_changes(widened));
    return conversion;
}

/// Report the effects of a new default that users must know.
void report_effects(const Conversion& conversion, const Column& key) {
    ListCell* cell;
    foreach (cell, conversion.kept_sequences)
        ereport(NOTICE, (errmsg("sequence %s is kept", qualified_name(lfirst_oid(cell))),
                         errdetail("Column \"%s\" of table \"%s\" uses the sequence, but does not "
                                   "own it.",
                                   column_name(key), get_rel_name(key.table))));
    for (const Column& member : Items<Column>{family_of(key)}) {
        if (!is_in_partition_key(member)) continue;
        ereport(WARNING,
                (errmsg("column \"%s\" is part of the partition key of table \"%s\"",
                        column_name(member), get_rel_name(member.table)),
                 errhint("Create partitions for new IDs with snowdrift.create_partitions().")));
        break;
    }
}

/// The largest key of a table; nothing if the table is empty. Includes all committed rows and the
/// rows of this transaction, regardless of its isolation level and of row-level security, which
/// does not apply to the owner here.
std::optional<int64> largest(const Column& key) {
    SPIPlanPtr query =
        SPI_prepare(psprintf("SELECT pg_catalog.max(%s)::bigint FROM %s",
                             quote_identifier(column_name(key)), qualified_name(key.table)),
                    0, nullptr);
    if (query == nullptr) elog(ERROR, "could not prepare the query for the largest key");
    const int result = SPI_execute_snapshot(query, nullptr, nullptr, GetLatestSnapshot(),
                                            InvalidSnapshot, true, false, 1);
    if (result != SPI_OK_SELECT || SPI_processed != 1)
        elog(ERROR, "could not read the largest key");
    bool is_null;
    const Datum value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null);
    if (is_null) return std::nullopt;
    return DatumGetInt64(value);
}

/// Ensure that all keys are below the generator's next IDs. Raises 55000.
void check_keys_are_below(const Column& key, const KeyGenerator& generator) {
    const int64 first_id = draw(generator);
    const auto last_key = largest(key);
    if (!last_key || *last_key < first_id) return;
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("keys in column \"%s\" of table \"%s\" are not below new IDs", column_name(key),
                    get_rel_name(key.table)),
             errdetail("The largest key is %lld, and a new ID is %lld.",
                       static_cast<long long>(*last_key), static_cast<long long>(first_id))));
}

/// Lock tables and those that inherit from them. Not by name, because other tables can take the
/// names during the wait.
void lock(const List* tables, LOCKMODE mode) {
    ListCell* cell;
    foreach (cell, tables) {
        LockRelationOid(lfirst_oid(cell), mode);
        (void)find_all_inheritors(lfirst_oid(cell), mode, nullptr);
    }
}

/// The conversion, planned under locks. The table can have changed during the wait, so the key is
/// found again.
Conversion lock_and_plan(Column& key, const char* name, const KeyGenerator& generator,
                         LOCKMODE mode) {
    Conversion conversion = plan_conversion(key, generator);
    while (conversion.changes != NIL) {
        lock(conversion.tables, mode);
        const List* const locked = conversion.tables;
        key = find_key(key.table, name);
        conversion = plan_conversion(key, generator);
        if (list_difference_oid(conversion.tables, locked) == NIL) break;
    }
    return conversion;
}

}  // namespace

/// snowdrift.convert_column(table regclass, column name, generator text, dry_run boolean) → setof
/// text
SNOWDRIFT_FUNCTION(convert_column) {
    if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(3))
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                        errmsg("table, column and dry_run must not be null")));
    const bool is_dry_run = PG_GETARG_BOOL(3);
    if (!is_dry_run) PreventCommandIfReadOnly("snowdrift.convert_column()");
    InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);

    const char* const name = NameStr(*PG_GETARG_NAME(1));
    Column key = find_key(PG_GETARG_OID(0), name);
    const KeyGenerator generator =
        find_generator(PG_ARGISNULL(2) ? nullptr : text_to_cstring(PG_GETARG_TEXT_PP(2)));
    (void)draw(generator);  // raises errors before this function waits for locks
    SPI_connect();
    const OwnerContext owner{key.table};
    const Conversion conversion =
        lock_and_plan(key, name, generator, is_dry_run ? AccessShareLock : AccessExclusiveLock);
    if (conversion.changes == NIL)
        ereport(NOTICE, (errmsg("column \"%s\" of table \"%s\" is already converted",
                                column_name(key), get_rel_name(key.table))));
    if (conversion.sets_default) {
        check_keys_are_below(key, generator);
        report_effects(conversion, key);
    }
    if (conversion.changes != NIL)
        add_row(fcinfo, {CStringGetTextDatum(lock_statement(conversion.tables))});
    for (const Change& change : Items<Change>{conversion.changes}) {
        if (!is_dry_run) execute(change.statement);
        add_row(fcinfo, {CStringGetTextDatum(change.statement)});
    }
    owner.restore();
    SPI_finish();
    return Datum{0};
}
