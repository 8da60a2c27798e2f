// The trigger of tables that snowdrift.watch() watches, by which watermarks also cover rows whose
// IDs were not drawn in the transaction that inserts them.
#include "pg/draw/hold_snowflake.hpp"
#include "pg/draw/next_in_block.hpp"
#include "pg/support/datum.hpp"
#include "pg/support/extension.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/scan.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "commands/trigger.h"
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

/// Whether an update has not changed the row's ID, although it sets the column.
bool has_same_id(const TriggerData* trigger, Datum id) {
    TupleDesc table = RelationGetDescr(trigger->tg_relation);
    const AttrNumber column = trigger->tg_trigger->tgattr[0];
    const auto previous = get_column(trigger->tg_relation, trigger->tg_trigtuple, column);
    const auto* const attribute = TupleDescAttr(table, column - 1);
    return previous && datumIsEqual(*previous, id, attribute->attbyval, attribute->attlen);
}

[[noreturn]] void report_passed(Relation table, const char* id, TimestampTz watermark) {
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("ID %s is below the latest watermark", id),
             errdetail("Readers may have passed the IDs before %s, and would miss the row.",
                       timestamptz_to_str(watermark)),
             table->rd_rel->relispartition
                 ? errhint("Draw the ID in the transaction that inserts the row, or insert an ID "
                           "of that time or later. An UPDATE cannot move the row to another "
                           "partition: delete it, and insert it without its ID.")
                 : errhint("Draw the ID in the transaction that inserts the row, or insert an ID "
                           "of that time or later.")));
}

[[noreturn]] void report_other_version(const char* id) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("UUID is not of version 7"),
                    errdetail("Readers of new rows would miss the row with the UUID %s.", id),
                    errhint("Draw the UUID with next_uuidv7(), or remove the watch.")));
}

[[noreturn]] void report_wrong_trigger() {
    ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                    errmsg("function was not called by a trigger of snowdrift.watch()")));
}

}  // namespace

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
    else if (const auto& bytes = get_id<Uuidv7::Bytes>(id); !Uuidv7::is_version_7(bytes))
        report_other_version(text_of(type, id));
    else
        passed =
            watermark::check_row(block_handle<Uuidv7, slots::Kind::uuidv7, &slots::Slot::uuidv7>,
                                 Uuidv7{bytes}.timestamp_ms());
    if (passed) report_passed(trigger->tg_relation, text_of(type, id), *passed);
    return Datum{0};
}
