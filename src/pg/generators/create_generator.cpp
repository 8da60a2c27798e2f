// Administration of the generators that users create: the functions behind
// snowdrift.create_generator, snowdrift.drop_generator and the view snowdrift.generators.
#include <algorithm>

#include "core/snowflake_generator.hpp"
#include "pg/generators/definitions.hpp"
#include "pg/generators/overflow.hpp"
#include "pg/generators/regressions.hpp"
#include "pg/memory/slots.hpp"
#include "pg/support/checks.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/extension.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/row.hpp"
#include "pg/support/time.hpp"
#include "pg/types/snowflake_layout_type.hpp"

extern "C" {
#include "access/xlog.h"
#include "commands/trigger.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/rel.h"
}

using namespace snowdrift;

namespace {

/// The arguments of create_generator, in their order.
enum Argument { name, kind, layout, datacenter, worker, partition, sequence_min, sequence_max };

const char* get_text(FunctionCallInfo fcinfo, Argument argument, const char* what) {
    if (PG_ARGISNULL(argument))
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                        errmsg("ID generator %s must not be null", what)));
    return text_to_cstring(PG_GETARG_TEXT_PP(argument));
}

/// A number, if it is given. Raises 22003 if it is not in 0 .. max.
std::optional<uint32_t> get_field(FunctionCallInfo fcinfo, Argument argument, const char* field,
                                  uint32_t max) {
    if (PG_ARGISNULL(argument)) return std::nullopt;
    return check_field(field, PG_GETARG_INT32(argument), max);
}

/// Ensure that an argument which generators of that kind don't have is not given.
void check_absent(FunctionCallInfo fcinfo, Argument argument, const char* field,
                  const char* kind_of_generator) {
    if (!PG_ARGISNULL(argument))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("a %s generator has no %s", kind_of_generator, field)));
}

/// The bounds, which may be given in either order.
void read_bounds(FunctionCallInfo fcinfo, Definition& definition, uint32_t max) {
    const uint32_t one = get_field(fcinfo, sequence_min, "sequence_min", max).value_or(0);
    const uint32_t other = get_field(fcinfo, sequence_max, "sequence_max", max).value_or(max);
    definition.sequence_min = std::min(one, other);
    definition.sequence_max = std::max(one, other);
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

/// The last time that a slot's IDs carry, in Unix milliseconds; 0 if there is none.
int64 last_unix_ms(const slots::Slot& slot, const char* kind, const SnowflakeLayout& layout) {
    if (std::strcmp(kind, "ulid") == 0) return slot.ulid.last_unix_ms();
    if (std::strcmp(kind, "sno") == 0) return SnoGenerator::last_unix_ms(slot.sno);
    const uint64_t word = slot.words[0];
    return word == 0 ? 0 : SnowflakeGenerator{layout, 0}.unix_ms_of(word);
}

slots::Kind slot_kind(const char* kind) {
    if (std::strcmp(kind, "ulid") == 0) return slots::Kind::ulid;
    return std::strcmp(kind, "sno") == 0 ? slots::Kind::sno : slots::Kind::snowflake;
}

/// The key of the slot that read_generator's arguments mean: the default generator's of that kind
/// where there is no id.
slots::SlotKey slot_key(FunctionCallInfo fcinfo, const char* kind) {
    slots::SlotKey key{MyDatabaseId, slot_kind(kind)};
    if (PG_ARGISNULL(0) || PG_ARGISNULL(3) || PG_ARGISNULL(4)) return key;
    key.definitions = extension::find_relation("generator");
    key.id = static_cast<uint32_t>(PG_GETARG_INT32(0));
    if (key.kind == slots::Kind::snowflake)
        key.layout = PG_ARGISNULL(2) ? default_layout : get_layout(PG_GETARG_DATUM(2));
    key.sequence_min = static_cast<uint32_t>(PG_GETARG_INT32(3));
    key.sequence_max = static_cast<uint32_t>(PG_GETARG_INT32(4));
    return key;
}

}  // namespace

/// snowdrift.create_generator(name, kind, layout, datacenter, worker, partition, sequence_min,
/// sequence_max) → void
SNOWDRIFT_FUNCTION(create_generator) {
    PreventCommandIfReadOnly("snowdrift.create_generator()");
    const char* const new_name = get_text(fcinfo, name, "name");
    const char* const new_kind = get_text(fcinfo, kind, "kind");
    if (std::strcmp(new_kind, "snowflake") == 0)
        definitions::insert(new_name, read_snowflake(fcinfo));
    else if (std::strcmp(new_kind, "sno") == 0)
        definitions::insert(new_name, read_sno(fcinfo));
    else
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("unrecognized ID generator kind: \"%s\"", new_kind),
                        errhint("Valid kinds are \"snowflake\" and \"sno\".")));
    PG_RETURN_VOID();
}

/// snowdrift.drop_generator(name) → void
SNOWDRIFT_FUNCTION(drop_generator) {
    PreventCommandIfReadOnly("snowdrift.drop_generator()");
    definitions::remove(text_to_cstring(PG_GETARG_TEXT_PP(0)));
    PG_RETURN_VOID();
}

/// snowdrift.generators_changed() → trigger: lets all sessions read the table again
SNOWDRIFT_FUNCTION(generators_changed) {
    if (!CALLED_AS_TRIGGER(fcinfo)) elog(ERROR, "not called as a trigger");
    const auto* const trigger = reinterpret_cast<TriggerData*>(fcinfo->context);
    definitions::invalidate(trigger->tg_relation);
    PG_RETURN_POINTER(nullptr);
}

/// snowdrift.read_generator(id int, kind text, layout snowflake_layout, sequence_min int,
/// sequence_max int) → what it does at present, all null where it has done nothing since the server
/// started
SNOWDRIFT_FUNCTION(read_generator) {
    if (PG_ARGISNULL(1) || RecoveryInProgress()) return make_row(fcinfo, {{}, {}, {}, {}, {}, {}});
    const char* const kind = text_to_cstring(PG_GETARG_TEXT_PP(1));
    const SnowflakeLayout layout =
        PG_ARGISNULL(2) ? default_layout : get_layout(PG_GETARG_DATUM(2));
    const slots::Slot* const slot = slots::lookup(slot_key(fcinfo, kind));
    if (slot == nullptr) return make_row(fcinfo, {{}, {}, {}, {}, {}, {}});

    const int64 now = clock::now_ms();
    std::optional<Datum> last_timestamp;
    std::optional<Datum> lead;
    if (const int64 last = last_unix_ms(*slot, kind, layout); last != 0) {
        last_timestamp = TimestampTzGetDatum(timestamp_from_unix_ms(last));
        lead = DirectFunctionCall2(timestamp_mi,
                                   TimestampTzGetDatum(timestamp_from_unix_ms(std::max(last, now))),
                                   TimestampTzGetDatum(timestamp_from_unix_ms(now)));
    }
    std::optional<Datum> times_set_back;
    if (std::strcmp(kind, "sno") == 0)
        times_set_back = Int64GetDatum(static_cast<int64>(slot->sno.drifts.load()));
    else if (std::strcmp(kind, "snowflake") == 0)
        times_set_back = Int64GetDatum(regressions::count(*slot));
    return make_row(
        fcinfo,
        {last_timestamp, lead, Int32GetDatum(static_cast<int32>(slot->statistics.waiting.load())),
         Int64GetDatum(int64{slot->statistics.episodes.load()}),
         Int64GetDatum(overflow::ticks(slot->statistics, now)), times_set_back});
}
