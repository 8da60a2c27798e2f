// The SQL functions snowdrift.create_generator() and snowdrift.drop_generator(), and the triggers
// of snowdrift_tables.generator.
#include <algorithm>

#include "pg/generators/definitions.hpp"
#include "pg/generators/node.hpp"
#include "pg/generators/slot_release.hpp"
#include "pg/support/checks.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/replication.hpp"
#include "pg/support/trigger.hpp"
#include "pg/support/versions.hpp"
#include "pg/types/snowflake_layout_type.hpp"

extern "C" {
#include "tcop/utility.h"
#include "utils/builtins.h"
}

using namespace snowdrift;

namespace {

/// The arguments of create_generator(), in order.
enum Argument {
    name,
    kind,
    layout,
    datacenter,
    worker,
    partition,
    sequence_min,
    sequence_max,
    this_node_only,
};

/// A text argument. Raises 22004 if it is null.
const char* get_text(FunctionCallInfo fcinfo, Argument argument, const char* what) {
    if (PG_ARGISNULL(argument))
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                        errmsg("ID generator %s must not be null", what)));
    return text_to_cstring(PG_GETARG_TEXT_PP(argument));
}

/// A number argument; nothing if it is null. Raises 22003 if it is not in 0 .. max.
std::optional<uint32_t> get_field(FunctionCallInfo fcinfo, Argument argument, const char* field,
                                  uint32_t max) {
    if (PG_ARGISNULL(argument)) return std::nullopt;
    return check_field(field, PG_GETARG_INT32(argument), max);
}

/// Ensure that an argument that does not apply to the kind of generator is null. Raises 22023.
void check_absent(FunctionCallInfo fcinfo, Argument argument, const char* field,
                  const char* kind_of_generator) {
    if (!PG_ARGISNULL(argument))
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("%s cannot be specified for a %s generator", field, kind_of_generator)));
}

/// Read the bounds of the sequence. The caller may pass them in either order.
void read_bounds(FunctionCallInfo fcinfo, Definition& definition, uint32_t max) {
    const uint32_t first = get_field(fcinfo, sequence_min, "sequence_min", max).value_or(0);
    const uint32_t second = get_field(fcinfo, sequence_max, "sequence_max", max).value_or(max);
    definition.sequence_min = std::min(first, second);
    definition.sequence_max = std::max(first, second);
    definitions::check_bounds(definition.sequence_min, definition.sequence_max);
}

Definition read_snowflake(FunctionCallInfo fcinfo) {
    check_absent(fcinfo, partition, "partition", "snowflake");
    Definition definition{};
    definition.kind = GeneratorKind::snowflake;
    definition.layout = PG_ARGISNULL(layout) ? default_layout : get_layout(PG_GETARG_DATUM(layout));
    definition.datacenter =
        get_field(fcinfo, datacenter, "datacenter", definition.layout.max_datacenter());
    definition.worker = get_field(fcinfo, worker, "worker", definition.layout.max_worker());
    read_bounds(fcinfo, definition, definition.layout.max_sequence());
    return definition;
}

Definition read_sno(FunctionCallInfo fcinfo) {
    check_absent(fcinfo, layout, "layout", "sno");
    check_absent(fcinfo, datacenter, "datacenter", "sno");
    check_absent(fcinfo, worker, "worker", "sno");
    Definition definition{};
    definition.kind = GeneratorKind::sno;
    definition.partition = get_field(fcinfo, partition, "partition", UINT16_MAX);
    read_bounds(fcinfo, definition, UINT16_MAX);
    return definition;
}

}  // namespace

/// snowdrift.create_generator(name, kind, layout, datacenter, worker, partition, sequence_min,
/// sequence_max, this_node_only) → void
SNOWDRIFT_FUNCTION(create_generator) {
    PreventCommandIfReadOnly("snowdrift.create_generator()");
    const char* const new_name = get_text(fcinfo, name, "name");
    const char* const new_kind = get_text(fcinfo, kind, "kind");
    Definition definition;
    if (std::strcmp(new_kind, "snowflake") == 0)
        definition = read_snowflake(fcinfo);
    else if (std::strcmp(new_kind, "sno") == 0)
        definition = read_sno(fcinfo);
    else
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("unrecognized ID generator kind: \"%s\"", new_kind),
                        errhint("Valid kinds are \"snowflake\" and \"sno\".")));
    definition.this_node_only = PG_NARGS() > this_node_only && !PG_ARGISNULL(this_node_only) &&
                                PG_GETARG_BOOL(this_node_only);
    check_unique_in_cluster(new_name, definition);
    definitions::insert(new_name, definition);
    PG_RETURN_VOID();
}

/// snowdrift.drop_generator(name) → void
SNOWDRIFT_FUNCTION(drop_generator) {
    PreventCommandIfReadOnly("snowdrift.drop_generator()");
    definitions::remove(text_to_cstring(PG_GETARG_TEXT_PP(0)));
    PG_RETURN_VOID();
}

/// snowdrift_tables.guard_definition() → trigger: skips the rows of another server, or raises 55000
/// if they have no replication origin. A definition that is changed by hand is locked, as by
/// drop_generator().
SNOWDRIFT_FUNCTION(guard_definition) {
    const TriggerData& trigger =
        check_trigger(fcinfo, "generator", TRIGGER_EVENT_ROW | TRIGGER_EVENT_BEFORE);
    if (has_replication_origin()) PG_RETURN_POINTER(nullptr);
    replication::check_not_replicated(trigger);
    definitions::lock_exclusively(trigger.tg_relation, trigger.tg_trigtuple);
    if (!TRIGGER_FIRED_BY_UPDATE(trigger.tg_event)) PG_RETURN_POINTER(trigger.tg_trigtuple);
    // It may have the id of a generator that was deleted.
    definitions::lock_exclusively(trigger.tg_relation, trigger.tg_newtuple);
    PG_RETURN_POINTER(trigger.tg_newtuple);
}

/// snowdrift_tables.guard_backfill() → trigger: skips the rows of another server. Without a
/// replication origin, rows are inserted, because each of them only uses up IDs, but changes raise
/// 55000.
SNOWDRIFT_FUNCTION(guard_backfill) {
    const TriggerData& trigger =
        check_trigger(fcinfo, "backfill", TRIGGER_EVENT_ROW | TRIGGER_EVENT_BEFORE);
    if (has_replication_origin()) PG_RETURN_POINTER(nullptr);
    if (TRIGGER_FIRED_BY_INSERT(trigger.tg_event)) PG_RETURN_POINTER(trigger.tg_trigtuple);
    replication::check_not_replicated(trigger);
    const bool is_update = TRIGGER_FIRED_BY_UPDATE(trigger.tg_event);
    PG_RETURN_POINTER(is_update ? trigger.tg_newtuple : trigger.tg_trigtuple);
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
    advance_changed();
    PG_RETURN_POINTER(nullptr);
}
