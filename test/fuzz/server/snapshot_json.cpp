// Fuzz target: the jsonb form of snapshots, which snowdrift.restore() reads. It needs PostgreSQL's
// memory, errors and jsonb, so libFuzzer runs in a server process, as an SQL function.
#include <string>
#include <vector>

// before PostgreSQL's headers, which redefine printf()
#include "fuzz/check.hpp"
#include "fuzz/snapshot_model.hpp"
#include "fuzz/snapshot_texts.hpp"

#include "pg/administration/snapshot.hpp"
#include "snowdrift/snowflake_layout.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
}

extern "C" int LLVMFuzzerRunDriver(int* argc, char*** argv,
                                   int (*run)(const uint8_t* data, size_t size));

using namespace snowdrift;

namespace {

/// Snapshots as snowdrift.snapshot() returns them, in the order of jsonb.
const fuzz::Fields snapshots[] = {
    {{"now", R"("2026-01-01T00:00:01.000Z")"},
     {"kind", R"("snowflake")"},
     {"layout", R"("twitter")"},
     {"worker", "7"},
     {"version", "1"},
     {"sequence", "107"},
     {"datacenter", "0"},
     {"sequence_max", "4095"},
     {"sequence_min", "0"},
     {"last_timestamp", R"("2026-01-01T00:00:00.000Z")"}},
    {{"now", R"("2026-01-01T00:00:01.000Z")"},
     {"kind", R"("snowflake")"},
     {"layout", R"("twitter")"},
     {"spread", "true"},
     {"worker", "null"},
     {"version", "1"},
     {"sequence", "107"},
     {"datacenter", "null"},
     {"sequence_max", "131"},
     {"sequence_min", "100"},
     {"last_timestamp", R"("2026-01-01T00:00:00.000Z")"}},
    {{"now", R"("2026-01-01T00:00:01.000Z")"},
     {"kind", R"("sno")"},
     {"tick", "0"},
     {"version", "1"},
     {"at_count", "0"},
     {"sequence", "9"},
     {"partition", "7"},
     {"safe_mark", R"("2025-12-01T00:00:00.000Z")"},
     {"regressions", "1"},
     {"sequence_max", "65535"},
     {"sequence_min", "0"},
     {"last_timestamp", R"("2026-01-01T00:00:00.000Z")"},
     {"highest_wall_clock", R"("2026-01-01T00:00:00.000Z")"}},
};

enum class Outcome : uint8_t { not_json, rejected, accepted };

/// Parses a text as jsonb, reads the snapshot, writes it, and reads it again.
Outcome read(const char* text, GeneratorSnapshot& snapshot, GeneratorSnapshot& again) {
    volatile Outcome outcome = Outcome::not_json;
    int sqlstate = 0;
    PG_TRY();
    {
        const Datum json = DirectFunctionCall1(jsonb_in, CStringGetDatum(text));
        outcome = Outcome::rejected;
        snapshot = read_snapshot(json);
        outcome = Outcome::accepted;
        again = read_snapshot(write_snapshot(snapshot, 0));
    }
    PG_CATCH();
    {
        sqlstate = geterrcode();
        FlushErrorState();
    }
    PG_END_TRY();
    REQUIRE(sqlstate == 0 || outcome != Outcome::accepted);
    REQUIRE(sqlstate == 0 || outcome == Outcome::not_json ||
            sqlstate == ERRCODE_INVALID_PARAMETER_VALUE ||
            sqlstate == ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE ||
            sqlstate == ERRCODE_DATETIME_VALUE_OUT_OF_RANGE);
    return outcome;
}

/// A snapshot as the model describes it.
model::Snapshot fields_of(const GeneratorSnapshot& snapshot) {
    const Definition& definition = snapshot.definition;
    model::Snapshot fields{{"version", "1"},
                           {"sequence_min", std::to_string(definition.sequence_min)},
                           {"sequence_max", std::to_string(definition.sequence_max)}};
    if (definition.kind == slots::Kind::snowflake) {
        const SnowflakeLayout& layout = definition.layout;
        fields["kind"] = "snowflake";
        if (definition.spread) fields["spread"] = "true";
        fields["layout"] = model::without_empty_sequence(fuzz::written(
            max_layout_text_size, [&](char* to) { return format_layout(layout, to); }));
        if (const auto node = definition.node()) {
            fields["datacenter"] = std::to_string(*node >> layout.worker_bits);
            fields["worker"] = std::to_string(*node & layout.max_worker());
        }
        if (const auto& position = snapshot.snowflake_position) {
            fields["last_timestamp"] = std::to_string(position->unix_ms);
            fields["sequence"] = std::to_string(position->sequence);
        }
        return fields;
    }
    const SnoPosition& position = snapshot.sno_position;
    fields["kind"] = "sno";
    if (definition.partition) fields["partition"] = std::to_string(*definition.partition);
    if (position.units > 0) {
        fields["last_timestamp"] = std::to_string(position.units);
        fields["sequence"] = std::to_string(position.sequence);
    }
    if (position.safe > 0) fields["safe_mark"] = std::to_string(position.safe);
    fields["tick"] = std::to_string(static_cast<int>(position.tick));
    fields["regressions"] = std::to_string(snapshot.regressions);
    fields["at_count"] = std::to_string(snapshot.at_count);
    return fields;
}

void check(fuzz::Input& input) {
    const fuzz::Fields fields = fuzz::changed(input.pick(snapshots), input);
    std::string text = fuzz::json_of(fields);
    const bool is_damaged = input.below(8) == 0;
    if (is_damaged) text = input.mutated(text);
    if (!pg_verifymbstr(text.data(), static_cast<int>(text.size()), true)) return;

    GeneratorSnapshot snapshot{};
    GeneratorSnapshot again{};
    const Outcome outcome = read(text.c_str(), snapshot, again);
    if (outcome == Outcome::accepted) REQUIRE(fields_of(again) == fields_of(snapshot));
    if (is_damaged) return;
    REQUIRE(outcome != Outcome::not_json);
    const auto expected = model::SnapshotReader{fields}.read();
    REQUIRE(expected.has_value() == (outcome == Outcome::accepted));
    if (expected) REQUIRE(fields_of(snapshot) == *expected);
}

int run(const uint8_t* data, size_t size) {
    static MemoryContext context =
        AllocSetContextCreate(TopMemoryContext, "fuzz", ALLOCSET_DEFAULT_SIZES);
    const MemoryContext outer = MemoryContextSwitchTo(context);
    fuzz::Input input{data, size};
    check(input);
    MemoryContextSwitchTo(outer);
    MemoryContextReset(context);
    return 0;
}

}  // namespace

/// fuzz_snapshot_json(text[]) → void: runs libFuzzer with these arguments, and ends the process.
SNOWDRIFT_FUNCTION(fuzz_snapshot_json) {
    Datum* values = nullptr;
    int count = 0;
    deconstruct_array(PG_GETARG_ARRAYTYPE_P(0), TEXTOID, -1, false, TYPALIGN_INT, &values, nullptr,
                      &count);
    std::vector<char*> arguments{pstrdup("fuzz")};
    for (int i = 0; i < count; ++i) arguments.push_back(TextDatumGetCString(values[i]));
    int argc = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);
    char** argv = arguments.data();
    LLVMFuzzerRunDriver(&argc, &argv, run);
    PG_RETURN_VOID();
}
