// Administration of the generators that users create: the functions behind
// snowdrift.create_generator, snowdrift.drop_generator and the view snowdrift.generators.
#include <algorithm>

#include "core/snowflake_generator.hpp"
#include "pg/checks.hpp"
#include "pg/clock.hpp"
#include "pg/definitions.hpp"
#include "pg/mark.hpp"
#include "pg/overflow.hpp"
#include "pg/postgres.hpp"
#include "pg/regressions.hpp"
#include "pg/row.hpp"
#include "pg/slots.hpp"
#include "pg/snowflake_layout.hpp"
#include "pg/time.hpp"

extern "C" {
#include "commands/trigger.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/inval.h"
#include "utils/rel.h"
}

using namespace snowdrift;

namespace {

[[noreturn]] void report_not_for(const char* kind, const char* field) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("a %s generator has no %s", kind, field)));
}

/// The arguments of create_generator, in their order, as the table is to have them.
struct Row {
    enum Argument { name, kind, layout, datacenter, worker, partition, sequence_min, sequence_max };
    static constexpr int size = sequence_max + 1;

    explicit Row(FunctionCallInfo fcinfo) {
        for (int i = 0; i < size; ++i) {
            values[i] = PG_GETARG_DATUM(i);
            is_null[i] = PG_ARGISNULL(i);
            types[i] = get_fn_expr_argtype(fcinfo->flinfo, i);
        }
    }

    void set(Argument argument, int64 value) {
        values[argument] = Int32GetDatum(static_cast<int32>(value));
        is_null[argument] = false;
    }

    void check(Argument argument, const char* field, uint32 max) const {
        if (!is_null[argument]) (void)check_field(field, DatumGetInt32(values[argument]), max);
    }

    Datum values[size];
    bool is_null[size];
    Oid types[size];
};

/// Ensure that the bounds are within 0 .. max and leave enough room; put them in order, and those
/// that are not given in.
void settle_bounds(Row& row, uint32 max) {
    row.check(Row::sequence_min, "sequence_min", max);
    row.check(Row::sequence_max, "sequence_max", max);
    int64 low = row.is_null[Row::sequence_min] ? 0 : DatumGetInt32(row.values[Row::sequence_min]);
    int64 high =
        row.is_null[Row::sequence_max] ? max : DatumGetInt32(row.values[Row::sequence_max]);
    if (low > high) std::swap(low, high);
    definitions::check_bounds(low, high);
    row.set(Row::sequence_min, low);
    row.set(Row::sequence_max, high);
}

void settle_snowflake(Row& row) {
    if (!row.is_null[Row::partition]) report_not_for("snowflake", "partition");
    const SnowflakeLayout layout =
        row.is_null[Row::layout] ? default_layout : get_layout(row.values[Row::layout]);
    row.check(Row::datacenter, "datacenter", layout.max_datacenter());
    row.check(Row::worker, "worker", layout.max_worker());
    settle_bounds(row, layout.max_sequence());
}

void settle_sno(Row& row) {
    if (!row.is_null[Row::layout]) report_not_for("sno", "layout");
    if (!row.is_null[Row::datacenter]) report_not_for("sno", "datacenter");
    if (!row.is_null[Row::worker]) report_not_for("sno", "worker");
    row.check(Row::partition, "partition", UINT16_MAX);
    settle_bounds(row, UINT16_MAX);
}

void check_name(const char* name) {
    if (*name == '\0' || std::strlen(name) > definitions::max_name_length)
        ereport(ERROR, (errcode(ERRCODE_INVALID_NAME),
                        errmsg("invalid name of an ID generator: \"%s\"", name),
                        errdetail("A name has 1 to %zu bytes.", definitions::max_name_length)));
}

/// Run a statement, and return how many rows it changed.
uint64 execute(const char* statement, int n, Oid* types, Datum* values, const char* nulls) {
    SPI_connect();
    if (SPI_execute_with_args(statement, n, types, values, nulls, false, 0) < 0)
        elog(ERROR, "could not execute: %s", statement);
    const uint64 changed = SPI_processed;
    SPI_finish();
    return changed;
}

/// The last time that a slot's IDs carry, in Unix milliseconds; 0 if there is none.
int64 last_unix_ms(const slots::Slot& slot, const char* kind, const SnowflakeLayout& layout) {
    if (std::strcmp(kind, "ulid") == 0) return slot.ulid.last_unix_ms();
    if (std::strcmp(kind, "sno") == 0) return SnoGenerator::last_unix_ms(slot.sno);
    const uint64_t word = slot.words[0];
    return word == 0 ? 0 : SnowflakeGenerator{layout, 0}.unix_ms_of(word);
}

slots::Purpose purpose_of(const char* kind, FunctionCallInfo fcinfo) {
    if (!PG_ARGISNULL(0)) return slots::named(static_cast<uint32_t>(PG_GETARG_INT32(0)));
    if (std::strcmp(kind, "ulid") == 0) return slots::ulid;
    return std::strcmp(kind, "sno") == 0 ? slots::default_sno : slots::default_snowflake;
}

}  // namespace

/// snowdrift.create_generator(name, kind, layout, datacenter, worker, partition, sequence_min,
/// sequence_max) → void
SNOWDRIFT_FUNCTION(create_generator) {
    if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                        errmsg("an ID generator needs a name and a kind")));
    Row row{fcinfo};
    const char* const name = TextDatumGetCString(row.values[Row::name]);
    const char* const kind = TextDatumGetCString(row.values[Row::kind]);
    check_name(name);
    if (std::strcmp(kind, "snowflake") == 0)
        settle_snowflake(row);
    else if (std::strcmp(kind, "sno") == 0)
        settle_sno(row);
    else
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("invalid kind of an ID generator: \"%s\"", kind),
                        errhint("Kinds are \"snowflake\" and \"sno\".")));

    char nulls[Row::size];
    for (int i = 0; i < Row::size; ++i) nulls[i] = row.is_null[i] ? 'n' : ' ';
    const uint64 created = execute(
        "INSERT INTO snowdrift.generator (name, kind, layout, datacenter, worker, partition,"
        " sequence_min, sequence_max)"
        " VALUES ($1, $2, CASE $2 WHEN 'snowflake' THEN coalesce($3, 'snowflake') END,"
        " $4, $5, $6, $7, $8)"
        " ON CONFLICT (name) DO NOTHING",
        Row::size, row.types, row.values, nulls);
    if (created == 0)
        ereport(ERROR, (errcode(ERRCODE_DUPLICATE_OBJECT),
                        errmsg("ID generator \"%s\" already exists", name)));
    PG_RETURN_VOID();
}

/// snowdrift.drop_generator(name) → void
SNOWDRIFT_FUNCTION(drop_generator) {
    Oid type = TEXTOID;
    Datum name = PG_GETARG_DATUM(0);
    definitions::seize(TextDatumGetCString(name));
    if (execute("DELETE FROM snowdrift.generator WHERE name = $1", 1, &type, &name, " ") == 0)
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
                        errmsg("ID generator \"%s\" does not exist", TextDatumGetCString(name))));
    PG_RETURN_VOID();
}

/// snowdrift.generators_changed() → trigger: lets all sessions read the table again
SNOWDRIFT_FUNCTION(generators_changed) {
    if (!CALLED_AS_TRIGGER(fcinfo)) elog(ERROR, "not called as a trigger");
    const auto* const trigger = reinterpret_cast<TriggerData*>(fcinfo->context);
    CacheInvalidateRelcache(trigger->tg_relation);
    mark::give_up_states();
    PG_RETURN_POINTER(nullptr);
}

/// snowdrift.read_generator(id int, kind text, layout snowflake_layout) → what it does at present,
/// all null where it has done nothing since the server started
SNOWDRIFT_FUNCTION(read_generator) {
    const bool is_one = !PG_ARGISNULL(1) && (PG_ARGISNULL(0) || PG_GETARG_INT32(0) > 0);
    if (!is_one) return make_row(fcinfo, {{}, {}, {}, {}, {}, {}});
    const char* const kind = text_to_cstring(PG_GETARG_TEXT_PP(1));
    const SnowflakeLayout layout =
        PG_ARGISNULL(2) ? default_layout : get_layout(PG_GETARG_DATUM(2));
    const slots::Slot* const slot = slots::peek(purpose_of(kind, fcinfo));
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
