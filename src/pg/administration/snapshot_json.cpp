// The jsonb form of snapshots. A field without a value is null. Every field is always present,
// except spread, which is only present if it is true, so that earlier versions can read other
// snapshots.
#include <charconv>
#include <cstring>

#include "pg/administration/snapshot.hpp"
#include "pg/support/checks.hpp"
#include "pg/support/time.hpp"
#include "pg/types/id_traits.hpp"
#include "pg/types/snowflake_layout_type.hpp"
#include "snowdrift/snowflake_layout.hpp"

extern "C" {
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
}

namespace snowdrift {
namespace {

constexpr unsigned format_version = 1;

/// A number as JSON.
const char* number_text(std::optional<uint64_t> number) {
    if (!number) return "null";
    return psprintf("%llu", static_cast<unsigned long long>(*number));
}

/// A time as JSON.
const char* time_text(std::optional<int64_t> unix_ms) {
    if (!unix_ms) return "null";
    return psprintf("\"%s\"", utc_text(*unix_ms));
}

/// The timestamp of a sno as JSON.
const char* units_text(uint64_t units) {
    return units > 0 ? time_text(SnoGenerator::unix_ms_of(units)) : "null";
}

/// The fields of a Snowflake generator. A node is datacenter and worker.
const char* snowflake_text(const Definition& definition,
                           const std::optional<SnowflakeGenerator::Position>& last) {
    const bool has_node = definition.node().has_value();
    return psprintf(R"("layout": "%s", "datacenter": %s, "worker": %s, )"
                    R"("last_timestamp": %s, "sequence": %s%s)",
                    layout_text(definition.layout),
                    has_node ? number_text(definition.datacenter.value_or(0)) : "null",
                    has_node ? number_text(definition.worker.value_or(0)) : "null",
                    last ? time_text(last->unix_ms) : "null",
                    last ? number_text(last->sequence) : "null",
                    definition.spread ? R"(, "spread": true)" : "");
}

const char* sno_text(const GeneratorSnapshot& snapshot) {
    const SnoPosition& position = snapshot.sno_position;
    return psprintf(
        R"("partition": %s, "last_timestamp": %s, "sequence": %s, "tick": %d, )"
        R"("highest_wall_clock": %s, "safe_mark": %s, "regressions": %s, "at_count": %s)",
        number_text(snapshot.definition.partition), units_text(position.units),
        position.units > 0 ? number_text(position.sequence) : "null", position.tick,
        units_text(position.highest()), units_text(position.safe),
        number_text(snapshot.regressions), number_text(snapshot.at_count));
}

[[noreturn]] void reject(const char* detail) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("invalid snapshot of an ID generator"), errdetail("%s", detail)));
}

/// Takes the fields from a JSON object.
class Reader {
 public:
    explicit Reader(Jsonb* json) : json_{json} {
        if (!JB_ROOT_IS_OBJECT(json)) reject("The snapshot is not a JSON object.");
    }

    const char* get_text(const char* field) {
        const JsonbValue value = take(field);
        if (value.type != jbvString) reject(psprintf("The field \"%s\" is not a string.", field));
        return pnstrdup(value.val.string.val, value.val.string.len);
    }

    /// Whether a field that may be missing is present and true.
    bool get_flag(const char* field) {
        if (find(field) == nullptr) return false;
        const JsonbValue value = take(field);
        if (value.type != jbvBool) reject(psprintf("The field \"%s\" is not a boolean.", field));
        return value.val.boolean;
    }

    /// An integer; nothing for null. Raises 22003 if it is not in 0 .. max.
    std::optional<uint64_t> get_number_or_null(const char* field, uint64_t max) {
        const JsonbValue value = take(field);
        if (value.type == jbvNull) return std::nullopt;
        if (value.type != jbvNumeric) reject(psprintf("The field \"%s\" is not a number.", field));
        const char* const text =
            DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(value.val.numeric)));
        const char* const end = text + std::strlen(text);
        if (std::strchr(text, '.') != nullptr)
            reject(psprintf("The field \"%s\" is not an integer.", field));
        uint64_t number = 0;
        const auto [rest, error] = std::from_chars(text, end, number);
        if (rest != end || error != std::errc{} || number > max)
            ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                            errmsg("%s %s is out of range 0 .. %llu", field, text,
                                   static_cast<unsigned long long>(max))));
        return number;
    }

    uint64_t get_number(const char* field, uint64_t max) {
        const auto number = get_number_or_null(field, max);
        if (!number) reject(psprintf("The field \"%s\" is null.", field));
        return *number;
    }

    /// A time in Unix milliseconds; nothing for null. Raises 22008 if it is not in `range`.
    std::optional<int64_t> get_time_or_null(const char* field, const TimeRange& range) {
        const JsonbValue value = take(field);
        if (value.type == jbvNull) return std::nullopt;
        int64_t unix_ms;
        if (value.type != jbvString ||
            !parse_utc({value.val.string.val, static_cast<size_t>(value.val.string.len)}, unix_ms))
            reject(psprintf(R"(The field "%s" is not a time such as "2026-01-01T00:00:00.000Z".)",
                            field));
        return check_time(range, timestamp_from_unix_ms(unix_ms), unix_ms);
    }

    /// Ensure that no field is left.
    void check_empty() const {
        if (JB_ROOT_COUNT(json_) == 0) return;
        JsonbIterator* iterator = JsonbIteratorInit(&json_->root);
        JsonbValue key;
        (void)JsonbIteratorNext(&iterator, &key, true);  // the beginning of the object
        (void)JsonbIteratorNext(&iterator, &key, true);
        reject(psprintf("The field \"%s\" is unknown.",
                        pnstrdup(key.val.string.val, key.val.string.len)));
    }

 private:
    const JsonbValue* find(const char* field) const {
        return getKeyJsonValueFromContainer(&json_->root, field,
                                            static_cast<int>(std::strlen(field)), nullptr);
    }

    JsonbValue take(const char* field) {
        const JsonbValue* const value = find(field);
        if (value == nullptr) reject(psprintf("The field \"%s\" is missing.", field));
        json_ = DatumGetJsonbP(
            DirectFunctionCall2(jsonb_delete, JsonbPGetDatum(json_), CStringGetTextDatum(field)));
        return *value;
    }

    Jsonb* json_;
};

void read_bounds(Reader& reader, Definition& definition, uint32_t max) {
    definition.sequence_min = static_cast<uint32_t>(reader.get_number("sequence_min", max));
    definition.sequence_max = static_cast<uint32_t>(reader.get_number("sequence_max", max));
    definitions::check_bounds(definition);
}

/// The last ID's sequence. It has a value if and only if the last timestamp has one.
std::optional<uint64_t> read_sequence(Reader& reader, const Definition& definition,
                                      bool has_last_timestamp) {
    const auto sequence = reader.get_number_or_null("sequence", UINT32_MAX);
    if (sequence.has_value() != has_last_timestamp)
        reject(R"("last_timestamp" and "sequence" must both be null or both have a value.)");
    if (sequence && (*sequence < definition.sequence_min || *sequence > definition.sequence_max))
        reject(psprintf("The sequence %llu is out of range %u .. %u.",
                        static_cast<unsigned long long>(*sequence), definition.sequence_min,
                        definition.sequence_max));
    return sequence;
}

void read_snowflake(Reader& reader, GeneratorSnapshot& snapshot) {
    Definition& definition = snapshot.definition;
    SnowflakeLayout& layout = definition.layout;
    const char* const text = reader.get_text("layout");
    if (parse_layout(text, layout)) reject(psprintf("The layout \"%s\" is invalid.", text));
    definition.datacenter = reader.get_number_or_null("datacenter", layout.max_datacenter());
    definition.worker = reader.get_number_or_null("worker", layout.max_worker());
    if (definition.datacenter.has_value() != definition.worker.has_value())
        reject(R"("datacenter" and "worker" must both be null or both have a value.)");
    definition.spread = reader.get_flag("spread");
    read_bounds(reader, definition, layout.max_sequence());

    const auto last_timestamp = reader.get_time_or_null("last_timestamp", times_of(layout));
    const auto sequence = read_sequence(reader, definition, last_timestamp.has_value());
    if (last_timestamp)
        snapshot.snowflake_position =
            SnowflakeGenerator::Position{*last_timestamp, static_cast<uint32_t>(*sequence)};
}

uint64_t read_units(Reader& reader, const char* field) {
    const auto unix_ms = reader.get_time_or_null(field, IdTraits<Sno>::times);
    return unix_ms ? Sno::units_at(time_of(*unix_ms)) : 0;
}

void read_sno(Reader& reader, GeneratorSnapshot& snapshot) {
    Definition& definition = snapshot.definition;
    definition.partition = reader.get_number_or_null("partition", UINT16_MAX);
    read_bounds(reader, definition, UINT16_MAX);

    SnoPosition& position = snapshot.sno_position;
    position.units = read_units(reader, "last_timestamp");
    position.sequence =
        static_cast<uint16_t>(read_sequence(reader, definition, position.units > 0).value_or(0));
    position.tick = reader.get_number("tick", 1) != 0;
    position.safe = read_units(reader, "safe_mark");
    const uint64_t highest = read_units(reader, "highest_wall_clock");
    if (position.safe > highest) reject(R"("safe_mark" is later than "highest_wall_clock".)");
    if (position.units > highest) reject(R"("last_timestamp" is later than "highest_wall_clock".)");
    if (position.highest() < highest)
        reject(R"("highest_wall_clock" is later than "last_timestamp" and "safe_mark".)");
    snapshot.regressions = reader.get_number("regressions", INT64_MAX);
    snapshot.at_count = reader.get_number("at_count", INT64_MAX);
}

}  // namespace

Datum write_snapshot(const GeneratorSnapshot& snapshot, int64_t now_ms) {
    const Definition& definition = snapshot.definition;
    const bool is_sno = definition.kind == slots::Kind::sno;
    const char* const text = psprintf(
        R"({"version": %u, "kind": "%s", "sequence_min": %u, "sequence_max": %u, "now": %s, %s})",
        format_version, slots::name_of(definition.kind), definition.sequence_min,
        definition.sequence_max, time_text(now_ms),
        is_sno ? sno_text(snapshot) : snowflake_text(definition, snapshot.snowflake_position));
    return DirectFunctionCall1(jsonb_in, CStringGetDatum(text));
}

GeneratorSnapshot read_snapshot(Datum json) {
    Reader reader{DatumGetJsonbP(json)};
    GeneratorSnapshot snapshot{};
    const uint64_t version = reader.get_number("version", UINT32_MAX);
    if (version != format_version)
        reject(psprintf("The snapshot's version is %llu, but this server supports only version %u.",
                        static_cast<unsigned long long>(version), format_version));
    const char* const kind = reader.get_text("kind");
    if (std::strcmp(kind, "snowflake") == 0) {
        snapshot.definition.kind = slots::Kind::snowflake;
        read_snowflake(reader, snapshot);
    } else if (std::strcmp(kind, "sno") == 0) {
        snapshot.definition.kind = slots::Kind::sno;
        read_sno(reader, snapshot);
    } else {
        reject(psprintf("The kind \"%s\" is unknown.", kind));
    }
    const TimeRange valid{"a snapshot", 0, max_epoch_unix_ms};
    if (!reader.get_time_or_null("now", valid)) reject(R"(The field "now" is null.)");
    reader.check_empty();
    return snapshot;
}

}  // namespace snowdrift
