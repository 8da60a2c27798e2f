// The SQL functions snowdrift.create_generator() and snowdrift.drop_generator(), and the triggers
// of snowdrift_tables.generator.
#include "pg/administration/equal_ids.hpp"
#include "pg/administration/generator_dependents.hpp"
#include "pg/backfill/used_numbers.hpp"
#include "pg/named/definition_table.hpp"
#include "pg/named/definitions.hpp"
#include "pg/node/replication.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/trigger.hpp"

extern "C" {
#include "tcop/utility.h"
#include "utils/builtins.h"
}

using namespace snowdrift;

namespace {

using definitions::Column;
using definitions::Row;

/// The arguments of create_generator(): the columns of a definition without id and origin.
Row read_arguments(FunctionCallInfo fcinfo) {
    Row row{};
    int column = 0;
    for (int i = 0; i < PG_NARGS(); ++i, ++column) {
        while (column == static_cast<int>(Column::id) || column == static_cast<int>(Column::origin))
            ++column;
        if (!PG_ARGISNULL(i)) row.columns[column] = PG_GETARG_DATUM(i);
    }
    return row;
}

/// A text argument. Raises 22004 if it is null.
const char* get_text(const std::optional<Datum>& argument, const char* what) {
    if (!argument)
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                        errmsg("ID generator %s must not be null", what)));
    return TextDatumGetCString(*argument);
}

/// Ensure that an argument that does not apply to the kind of generator is null. Raises 22023.
void check_absent(const std::optional<Datum>& argument, const char* field,
                  const char* kind_of_generator) {
    if (argument)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("%s cannot be specified for a %s generator", field, kind_of_generator)));
}

[[noreturn]] void report_change(const TriggerData& trigger) {
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("cannot change table \"snowdrift_tables.%s\"",
                           RelationGetRelationName(trigger.tg_relation)),
                    errdetail("Changing its rows could cause IDs to be repeated."),
                    errhint("Use snowdrift.drop_generator() and snowdrift.create_generator().")));
}

}  // namespace

/// snowdrift.create_generator(name, kind, layout, datacenter, worker, partition, sequence_min,
/// sequence_max, this_node_only, spread) → void
SNOWDRIFT_FUNCTION(create_generator) {
    PreventCommandIfReadOnly("snowdrift.create_generator()");
    const Row row = read_arguments(fcinfo);
    const char* const name = get_text(row[Column::name], "name");
    const char* const kind = get_text(row[Column::kind], "kind");
    if (std::strcmp(kind, "snowflake") == 0) {
        check_absent(row[Column::partition], "partition", kind);
    } else if (std::strcmp(kind, "sno") == 0) {
        check_absent(row[Column::layout], "layout", kind);
        check_absent(row[Column::datacenter], "datacenter", kind);
        check_absent(row[Column::worker], "worker", kind);
    } else {
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("unrecognized ID generator kind: \"%s\"", kind),
                        errhint("Valid kinds are \"snowflake\" and \"sno\".")));
    }
    const Definition definition = row.definition();
    if (definition.kind == slots::Kind::sno && definition.spread)
        check_absent(row[Column::spread], "spread", kind);
    definitions::check_bounds(definition);
    definitions::check_present(definition);
    definitions::check_unique_in_cluster(name, definition);
    definitions::insert(name, definition);
    notice_equal_ids(name, definition);
    PG_RETURN_VOID();
}

/// snowdrift.drop_generator(name, force) → void
SNOWDRIFT_FUNCTION(drop_generator) {
    PreventCommandIfReadOnly("snowdrift.drop_generator()");
    const char* const name = text_to_cstring(PG_GETARG_TEXT_PP(0));
    const bool is_forced = PG_GETARG_BOOL(1);
    definitions::lock_exclusively(name);
    if (!is_forced) check_no_dependents(name);
    backfill::remove(definitions::remove(name).id);
    PG_RETURN_VOID();
}

/// snowdrift_tables.guard_definition() → trigger: skips the rows of another server. Without a
/// replication origin, rows are inserted, as by a dump, but those of other servers raise 55000, and
/// changes 0A000.
SNOWDRIFT_FUNCTION(guard_definition) {
    const TriggerData& trigger =
        check_trigger(fcinfo, "generator", TRIGGER_EVENT_ROW | TRIGGER_EVENT_BEFORE);
    if (has_replication_origin()) PG_RETURN_POINTER(nullptr);
    replication::check_not_replicated(trigger);
    if (!TRIGGER_FIRED_BY_INSERT(trigger.tg_event)) report_change(trigger);
    definitions::begin_after_others(
        definitions::read_row(trigger.tg_relation, trigger.tg_trigtuple).generator());
    PG_RETURN_POINTER(trigger.tg_trigtuple);
}

/// snowdrift_tables.guard_backfill() → trigger: the same, but rows of other servers are inserted if
/// they have no replication origin, because each of them only uses up IDs.
SNOWDRIFT_FUNCTION(guard_backfill) {
    const TriggerData& trigger =
        check_trigger(fcinfo, "backfill", TRIGGER_EVENT_ROW | TRIGGER_EVENT_BEFORE);
    if (has_replication_origin()) PG_RETURN_POINTER(nullptr);
    if (!TRIGGER_FIRED_BY_INSERT(trigger.tg_event)) report_change(trigger);
    PG_RETURN_POINTER(trigger.tg_trigtuple);
}

/// snowdrift_tables.refuse_truncate() → trigger: raises an error. Logical replication applies
/// TRUNCATE without triggers for rows, so it would remove this server's rows.
SNOWDRIFT_FUNCTION(refuse_truncate) {
    const bool is_backfill =
        CALLED_AS_TRIGGER(fcinfo) &&
        RelationGetRelid(reinterpret_cast<TriggerData*>(fcinfo->context)->tg_relation) ==
            extension::find_relation("backfill");
    const char* const table = is_backfill ? "backfill" : "generator";
    (void)check_trigger(fcinfo, table, TRIGGER_EVENT_BEFORE);
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("cannot truncate table \"snowdrift_tables.%s\"", table),
                    errdetail("Logical replication would remove the rows of other servers."),
                    errhint("Use snowdrift.drop_generator() for each generator.")));
}

/// snowdrift_tables.generators_changed() → trigger: makes all sessions reread the table
SNOWDRIFT_FUNCTION(generators_changed) {
    definitions::invalidate(check_trigger(fcinfo, "generator", TRIGGER_EVENT_AFTER).tg_relation);
    PG_RETURN_POINTER(nullptr);
}
