// The SQL functions snowdrift.convert_keys() and snowdrift.convert_column(), which make serial and
// identity keys generate Snowflake IDs.
#include <cstring>
#include <optional>

#include "pg/migration/conversion.hpp"
#include "pg/migration/dependents.hpp"
#include "pg/migration/views.hpp"
#include "pg/support/datum.hpp"
#include "pg/support/row.hpp"
#include "pg/support/tables.hpp"

extern "C" {
#include "catalog/namespace.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "storage/lmgr.h"
#include "tcop/utility.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
}

using namespace snowdrift;

namespace {

/// Report the effects of new defaults that users must know.
void report_effects(const Conversion& conversion) {
    for (const KeySequence& kept : Items<KeySequence>{conversion.kept_sequences})
        ereport(NOTICE, (errmsg("sequence %s is kept", qualified_name(kept.sequence)),
                         errdetail("Column \"%s\" of table \"%s\" uses the sequence, but does not "
                                   "own it.",
                                   column_name(kept.key), get_rel_name(kept.key.table))));
    for (const ReplacedDefault& old : Items<ReplacedDefault>{conversion.replaced})
        ereport(NOTICE, (errmsg("default of column \"%s\" of table \"%s\" is replaced",
                                column_name(old.key), get_rel_name(old.key.table)),
                         errdetail("It was %s. IDs of another generator can have another layout, "
                                   "and can equal earlier ones.",
                                   old.expression)));
    for (const Column& key : Items<Column>{conversion.new_keys})
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

/// Lock relations and those that inherit from them. Not by name, because other relations can take
/// the names during the wait.
void lock(const List* relations, LOCKMODE mode) {
    ListCell* cell;
    foreach (cell, relations) {
        LockRelationOid(lfirst_oid(cell), mode);
        (void)find_all_inheritors(lfirst_oid(cell), mode, nullptr);
    }
}

/// Plans the conversion of the keys that find() returns, locks the relations, and plans it again,
/// because they can have changed during the wait. Views are locked before the tables that they
/// read, as queries do.
template <typename Find>
Conversion lock_and_plan(List*& keys, const KeyGenerator& generator, LOCKMODE mode, Find find) {
    Conversion conversion = plan_conversion(keys, generator);
    while (conversion.changes != NIL) {
        const List* const locked = list_concat_copy(conversion.views, conversion.tables);
        lock(locked, mode);
        keys = find();
        conversion = plan_conversion(keys, generator);
        const List* const relations = list_concat_copy(conversion.views, conversion.tables);
        if (list_difference_oid(relations, locked) == NIL) break;
    }
    return conversion;
}

/// A schema whose name the statements contain.
struct Schema {
    Oid oid;
    const char* name;
};

/// The schemas of the relations that a conversion changes, of what its views use, and of the
/// generator's function, as a List of Schema.
List* schemas_of(const Conversion& conversion, const KeyGenerator& generator) {
    List* schemas = NIL;
    const auto add = [&](Oid schema, const char* name) {
        for (const Schema& each : Items<Schema>{schemas})
            if (each.oid == schema) return;
        schemas = lappend(schemas, allocate(Schema{schema, name}));
    };
    add(get_func_namespace(generator.function), generator.schema);
    ListCell* cell;
    foreach (cell, conversion.tables) {
        const List* const tables = find_all_inheritors(lfirst_oid(cell), NoLock, nullptr);
        ListCell* table;
        foreach (table, tables) {
            const Oid schema = get_rel_namespace(lfirst_oid(table));
            add(schema, get_namespace_name(schema));
        }
    }
    foreach (cell, conversion.views) {
        const List* const names = schemas_in(lfirst_oid(cell));
        ListCell* name;
        foreach (name, names) {
            const auto* const schema = static_cast<const char*>(lfirst(name));
            add(get_namespace_oid(schema, true), schema);
        }
    }
    return schemas;
}

/// Ensure that schemas still have their names: ALTER SCHEMA ... RENAME does not wait for locks of
/// the tables in it. Raises 55000.
void check_names(const List* schemas) {
    AcceptInvalidationMessages();
    for (const Schema& schema : Items<Schema>{schemas}) {
        const char* const present = get_namespace_name(schema.oid);
        if (present != nullptr && std::strcmp(present, schema.name) == 0) continue;
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("schema \"%s\" was renamed during the conversion", schema.name),
                        errhint("Convert the keys again.")));
    }
}

/// Converts the keys that find() returns, and returns the statements as the called function's rows.
template <typename Find>
void convert(FunctionCallInfo fcinfo, const KeyGenerator& generator, bool is_dry_run, Find find) {
    (void)draw(generator);  // raises errors before this function waits for locks
    List* keys = find();
    if (keys == NIL) return;
    SPI_connect();
    const OwnerContext owner{static_cast<const Column*>(linitial(keys))->table};
    const Conversion conversion =
        lock_and_plan(keys, generator, is_dry_run ? AccessShareLock : AccessExclusiveLock, find);
    const List* const schemas = schemas_of(conversion, generator);
    if (conversion.changes == NIL)
        for (const Column& key : Items<Column>{keys})
            ereport(NOTICE, (errmsg("column \"%s\" of table \"%s\" is already converted",
                                    column_name(key), get_rel_name(key.table))));
    for (const Column& key : Items<Column>{conversion.new_keys})
        check_keys_are_below(key, generator);
    report_effects(conversion);
    ListCell* cell;
    foreach (cell, statements_of(conversion)) {
        const auto* const statement = static_cast<const char*>(lfirst(cell));
        if (!is_dry_run) {
            check_names(schemas);
            execute(statement);
        }
        add_row(fcinfo, {CStringGetTextDatum(statement)});
    }
    if (!is_dry_run) check_names(schemas);
    owner.restore();
    SPI_finish();
}

/// The generator in an argument, which is null for the default one.
KeyGenerator generator_argument(FunctionCallInfo fcinfo, int n) {
    return find_generator(PG_ARGISNULL(n) ? nullptr : text_to_cstring(PG_GETARG_TEXT_PP(n)));
}

/// The elements of an argument of type regclass[], ascending and distinct. Raises 22004.
List* tables_argument(FunctionCallInfo fcinfo, int n) {
    Datum* elements;
    bool* nulls;
    int count;
    deconstruct_array(PG_GETARG_ARRAYTYPE_P(n), REGCLASSOID, sizeof(Oid), true, TYPALIGN_INT,
                      &elements, &nulls, &count);
    List* tables = NIL;
    for (int i = 0; i < count; ++i) {
        if (nulls[i])
            ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                            errmsg("tables must not contain nulls")));
        tables = list_append_unique_oid(tables, DatumGetObjectId(elements[i]));
    }
    list_sort(tables, list_oid_cmp);
    return tables;
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

    const Oid table = PG_GETARG_OID(0);
    const char* const name = NameStr(*PG_GETARG_NAME(1));
    convert(fcinfo, generator_argument(fcinfo, 2), is_dry_run,
            [&] { return list_make1(allocate(find_key(table, name))); });
    return Datum{0};
}

/// snowdrift.convert_keys(tables regclass[], generator text, dry_run boolean) → setof text
SNOWDRIFT_FUNCTION(convert_keys) {
    if (PG_ARGISNULL(0) || PG_ARGISNULL(2))
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                        errmsg("tables and dry_run must not be null")));
    const bool is_dry_run = PG_GETARG_BOOL(2);
    if (!is_dry_run) PreventCommandIfReadOnly("snowdrift.convert_keys()");
    InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);

    const List* const tables = tables_argument(fcinfo, 0);
    const KeyGenerator generator = generator_argument(fcinfo, 1);
    const auto find = [&] {
        List* keys = NIL;
        ListCell* cell;
        foreach (cell, tables) keys = list_concat(keys, find_keys(lfirst_oid(cell), generator));
        return keys;
    };
    ListCell* cell;
    foreach (cell, tables)
        if (find_keys(lfirst_oid(cell), generator) == NIL)
            ereport(NOTICE,
                    (errmsg("table \"%s\" is skipped", get_rel_name(lfirst_oid(cell))),
                     errdetail("Its primary key has no serial or identity column of its own."),
                     errhint("snowdrift.convert_column() converts other columns.")));
    convert(fcinfo, generator, is_dry_run, find);
    return Datum{0};
}
