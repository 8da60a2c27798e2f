// The SQL functions snowdrift.watch() and snowdrift.unwatch(), and the trigger of watched tables,
// by which watermarks also cover rows whose IDs were not drawn in the transaction that inserts
// them.
#include "pg/administration/column_default.hpp"
#include "pg/draw/hold_snowflake.hpp"
#include "pg/draw/next_in_block.hpp"
#include "pg/support/datum.hpp"
#include "pg/support/extension.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/scan.hpp"
#include "pg/support/tables.hpp"

extern "C" {
#include "access/table.h"
#include "catalog/pg_type_d.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
}

using namespace snowdrift;

namespace {

/// The kind of the IDs in a column of this type, or of a domain over it; nothing if they have no
/// watermark.
std::optional<slots::Kind> kind_of(Oid type) {
    const Oid base = getBaseType(type);
    if (base == INT8OID) return slots::Kind::snowflake;
    if (base == UUIDOID) return slots::Kind::uuidv7;
    Oid input;
    Oid parameter;
    getTypeInputInfo(base, &input, &parameter);
    if (extension::is_ours(input, "snowdrift_ulid_in")) return slots::Kind::ulid;
    return std::nullopt;
}

/// The text form of an ID, or of a number that is not an ID.
const char* text_of(Oid type, Datum id) {
    Oid output;
    bool is_varlena;
    getTypeOutputInfo(getBaseType(type), &output, &is_varlena);
    return OidOutputFunctionCall(output, id);
}

/// The column of a table, which must contain IDs that have a watermark. Raises 42703, 42804 or
/// 0A000.
AttrNumber watched_column(Oid table, const char* name) {
    const AttrNumber column = get_attnum(table, name);
    if (column <= 0)
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
                        errmsg("column \"%s\" of relation \"%s\" does not exist", name,
                               get_rel_name(table))));
    const Oid type = get_atttype(table, column);
    if (!kind_of(type))
        ereport(ERROR,
                (errcode(ERRCODE_DATATYPE_MISMATCH),
                 errmsg("column \"%s\" of table \"%s\" contains no IDs that have a watermark", name,
                        get_rel_name(table)),
                 errdetail("The column is of type %s.", format_type_be(type)),
                 errhint("Columns of type bigint, ulid and uuid can be watched.")));
    if (get_attgenerated(table, column) == 'v')  // from PostgreSQL 18 on
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("column \"%s\" of table \"%s\" is a virtual generated column", name,
                               get_rel_name(table)),
                        errdetail("Triggers do not see its values."),
                        errhint("Watch a stored generated column.")));
    return column;
}

/// The qualified name of the extension's function with the C symbol `symbol`.
const char* name_of_function(const char* symbol) {
    const Oid function = extension::find_function(symbol);
    return quote_qualified_identifier(get_namespace_name(get_func_namespace(function)),
                                      get_func_name(function));
}

/// The table's own trigger that watches a column; if there is none, a trigger that belongs to the
/// watch of a partitioned table; null if there is neither. Triggers are found by the column on
/// which they depend: the numbers in the name can differ after a dump is restored, and in
/// partitions.
const Trigger* find_watch(Oid table_oid, AttrNumber column) {
    Relation table = table_open(table_oid, AccessShareLock);
    // A copy: PostgreSQL frees the original when it rebuilds the table's entry in its cache.
    const TriggerDesc* const all = CopyTriggerDesc(table->trigdesc);
    const Trigger* found = nullptr;
    for (int i = 0; all != nullptr && i < all->numtriggers; ++i) {
        const Trigger& trigger = all->triggers[i];
        if (trigger.tgnattr == 1 && trigger.tgattr[0] == column &&
            extension::is_ours(trigger.tgfoid, "snowdrift_hold_row") &&
            (found == nullptr || found->tgisclone))
            found = &trigger;
    }
    table_close(table, AccessShareLock);
    return found;
}

/// A name for the trigger of a column. The table's OID distinguishes it from the triggers that the
/// table has, or will have, as a partition. Renaming the column does not change the name.
const char* new_name(Oid table, AttrNumber column) {
    const char* name = psprintf("snowdrift_watermark_%u_%d", table, static_cast<int>(column));
    for (int i = 1; OidIsValid(get_trigger_oid(table, name, true)); ++i)
        name = psprintf("snowdrift_watermark_%u_%d_%d", table, static_cast<int>(column), i);
    return name;
}

/// The generator whose IDs are in the column, as an argument of the trigger: its name, or nothing
/// for the default generator, which a NOTICE states if the column's default does not.
const char* trigger_argument(Oid table_oid, AttrNumber column) {
    Relation table = table_open(table_oid, AccessShareLock);
    const auto generator = generator_call_of(table, column);
    const Oid type = TupleDescAttr(RelationGetDescr(table), column - 1)->atttypid;
    if (!generator && getBaseType(type) == INT8OID)
        ereport(NOTICE,
                (errmsg("column \"%s\" of table \"%s\" is watched with the default generator",
                        get_attname(table_oid, column, false), RelationGetRelationName(table)),
                 errdetail("The column's default does not call a generator of Snowflake IDs."),
                 errhint("If a named generator draws the column's IDs, call it in the column's "
                         "default, and watch the column again.")));
    const char* const argument =
        generator && !generator->is_default ? quote_literal_cstr(generator->name) : "";
    table_close(table, AccessShareLock);
    return argument;
}

/// Whether an update has not changed the row's ID, although it sets the column.
bool has_same_id(const TriggerData* trigger, Datum id) {
    TupleDesc table = RelationGetDescr(trigger->tg_relation);
    const AttrNumber column = trigger->tg_trigger->tgattr[0];
    const auto previous = get_column(trigger->tg_relation, trigger->tg_trigtuple, column);
    const auto* const attribute = TupleDescAttr(table, column - 1);
    return previous && datumIsEqual(*previous, id, attribute->attbyval, attribute->attlen);
}

[[noreturn]] void report_passed(const char* id, TimestampTz watermark) {
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("ID %s is below the latest watermark", id),
             errdetail("Readers may have passed the IDs before %s, and would miss the row.",
                       timestamptz_to_str(watermark)),
             errhint("Draw the ID in the transaction that inserts the row, or insert an ID of that "
                     "time or later.")));
}

[[noreturn]] void report_wrong_trigger() {
    ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                    errmsg("function was not called by a trigger of snowdrift.watch()")));
}

}  // namespace

/// snowdrift.watch(table regclass, column name)
SNOWDRIFT_FUNCTION(watch) {
    const Oid table = PG_GETARG_OID(0);
    const char* const name = NameStr(*PG_GETARG_NAME(1));
    PreventCommandIfReadOnly("snowdrift.watch()");
    check_owner(table);
    const AttrNumber column = watched_column(table, name);
    const Trigger* const watch = find_watch(table, column);
    const bool is_watched = watch != nullptr && !watch->tgisclone;
    const char* const trigger =
        quote_identifier(is_watched ? watch->tgname : new_name(table, column));
    SPI_connect();
    const OwnerContext owner{table};
    execute(psprintf(
        "CREATE %s TRIGGER %s AFTER INSERT OR UPDATE OF %s ON %s "
        "FOR EACH ROW EXECUTE FUNCTION %s(%s)",
        is_watched ? "OR REPLACE" : "", trigger, quote_identifier(name), qualified_name(table),
        name_of_function("snowdrift_hold_row"), trigger_argument(table, column)));
    execute(psprintf("ALTER TABLE %s ENABLE ALWAYS TRIGGER %s", qualified_name(table), trigger));
    owner.restore();
    SPI_finish();
    PG_RETURN_VOID();
}

/// snowdrift.unwatch(table regclass, column name)
SNOWDRIFT_FUNCTION(unwatch) {
    const Oid table = PG_GETARG_OID(0);
    PreventCommandIfReadOnly("snowdrift.unwatch()");
    check_owner(table);
    const char* const name = NameStr(*PG_GETARG_NAME(1));
    const Trigger* const watch = find_watch(table, watched_column(table, name));
    if (watch == nullptr)
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
                        errmsg("column \"%s\" of table \"%s\" is not watched", name,
                               get_rel_name(table))));
    SPI_connect();
    const OwnerContext owner{table};
    execute(
        psprintf("DROP TRIGGER %s ON %s", quote_identifier(watch->tgname), qualified_name(table)));
    owner.restore();
    SPI_finish();
    PG_RETURN_VOID();
}

/// snowdrift.hold_row([generator]), an AFTER ROW trigger: a BEFORE trigger could still change the
/// ID.
SNOWDRIFT_FUNCTION(hold_row) {
    const auto* const trigger =
        CALLED_AS_TRIGGER(fcinfo) ? reinterpret_cast<TriggerData*>(fcinfo->context) : nullptr;
    if (trigger == nullptr || !TRIGGER_FIRED_AFTER(trigger->tg_event) ||
        !TRIGGER_FIRED_FOR_ROW(trigger->tg_event) || TRIGGER_FIRED_BY_DELETE(trigger->tg_event) ||
        trigger->tg_trigger->tgnattr != 1 || trigger->tg_trigger->tgnargs > 1)
        report_wrong_trigger();
    TupleDesc table = RelationGetDescr(trigger->tg_relation);
    const AttrNumber column = trigger->tg_trigger->tgattr[0];
    const Oid type = TupleDescAttr(table, column - 1)->atttypid;
    const auto kind = kind_of(type);
    if (!kind) report_wrong_trigger();
    const bool is_update = TRIGGER_FIRED_BY_UPDATE(trigger->tg_event);
    HeapTuple row = is_update ? trigger->tg_newtuple : trigger->tg_trigtuple;
    const auto stored = get_column(trigger->tg_relation, row, column);
    if (!stored || (is_update && has_same_id(trigger, *stored))) return Datum{0};
    const Datum id = *stored;
    const bool has_generator = trigger->tg_trigger->tgnargs == 1;
    std::optional<TimestampTz> passed;
    if (kind == slots::Kind::snowflake)
        passed = hold_snowflake(has_generator ? trigger->tg_trigger->tgargs[0] : nullptr,
                                DatumGetInt64(id));
    else if (kind == slots::Kind::ulid)
        passed = watermark::check_row(block_handle<Ulid, slots::Kind::ulid, &slots::Slot::ulid>,
                                      get_id<Ulid>(id).timestamp_ms());
    else if (const auto& bytes = get_id<Uuidv7::Bytes>(id); Uuidv7::is_version_7(bytes))
        passed =
            watermark::check_row(block_handle<Uuidv7, slots::Kind::uuidv7, &slots::Slot::uuidv7>,
                                 Uuidv7{bytes}.timestamp_ms());
    if (passed) report_passed(text_of(type, id), *passed);
    return Datum{0};
}
