// The jsonb form of snapshots. Every field is always present; a field without a value is null.
#include <algorithm>
#include <array>
#include <charconv>

#include "pg/generators/snapshot.hpp"
#include "pg/support/checks.hpp"
#include "pg/support/time.hpp"
#include "pg/types/id_traits.hpp"
#include "pg/types/snowflake_layout_type.hpp"
#include "snowdrift/snowflake_layout.hpp"

extern "C" {
#include "lib/stringinfo.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
}

namespace snowdrift {
namespace {

constexpr uint64_t format_version = 1;

/// Writes the fields of a JSON object.
class Writer {
 public:
    Writer() { initStringInfo(&text_); }

    /// Add a string that needs no escapes.
    void add(const char* field, const char* value) {
        begin(field);
        appendStringInfo(&text_, "\"%s\"", value);
    }

    void add(const char* field, std::optional<uint64_t> value) {
        begin(field);
        if (value)
            appendStringInfo(&text_, "%llu", static_cast<unsigned long long>(*value));
        else
            appendStringInfoString(&text_, "null");
    }

    void add_time(const char* field, std::optional<int64_t> unix_ms) {
        if (unix_ms) return add(field, utc_text(*unix_ms));
        add(field, std::optional<uint64_t>{});
    }

    Datum finish() {
        appendStringInfoChar(&text_, '}');
        return DirectFunctionCall1(jsonb_in, CStringGetDatum(text_.data));
    }

 private:
    void begin(const char* field) {
        appendStringInfo(&text_, "%c\"%s\":", text_.len > 0 ? ',' : '{', field);
    }

    StringInfoData text_;
};

[[noreturn]] void reject(const char* detail) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("invalid snapshot of an ID generator"), errdetail("%s", detail)));
}

/// Reads the fields of a JSON object. A missing or unknown field is an error.
class Reader {
 public:
    explicit Reader(Jsonb* json) : json_{json} {
        if (!JB_ROOT_IS_OBJECT(json)) reject("The snapshot is not a JSON object.");
    }

    const char* get_text(const char* field) {
        JsonbValue value;
        if (take(field, value) != jbvString)
            reject(psprintf("The field \"%s\" is not a string.", field));
        return pnstrdup(value.val.string.val, value.val.string.len);
    }

    /// An integer; nothing for null. Raises 22003 if it is not in 0 .. max.
    std::optional<uint64_t> get_number_or_null(const char* field, uint64_t max) {
        JsonbValue value;
        const jbvType type = take(field, value);
        if (type == jbvNull) return std::nullopt;
        if (type != jbvNumeric) reject(psprintf("The field \"%s\" is not a number.", field));
        const char* const text =
            DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(value.val.numeric)));
        const char* const end = text + std::strlen(text);
        if (std::find(text, end, '.') != end)
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
        JsonbValue value;
        const jbvType type = take(field, value);
        if (type == jbvNull) return std::nullopt;
        int64_t unix_ms;
        if (type != jbvString ||
            !parse_utc({value.val.string.val, static_cast<size_t>(value.val.string.len)}, unix_ms))
            reject(psprintf(R"(The field "%s" is not a time such as "2026-01-01T00:00:00.000Z".)",
                            field));
        return check_time(range, timestamp_from_unix_ms(unix_ms), unix_ms);
    }

    /// Ensure that every field of the object has been read.
    void check_all_read() const {
        JsonbIterator* iterator = JsonbIteratorInit(&json_->root);
        JsonbValue key;
        for (JsonbIteratorToken token = JsonbIteratorNext(&iterator, &key, true); token != WJB_DONE;
             token = JsonbIteratorNext(&iterator, &key, true)) {
            if (token != WJB_KEY) continue;
            const std::string_view field{key.val.string.val,
                                         static_cast<size_t>(key.val.string.len)};
            if (std::find(taken_.begin(), taken_.begin() + taken_count_, field) ==
                taken_.begin() + taken_count_)
                reject(
                    psprintf("The field \"%s\" is unknown.", pnstrdup(field.data(), field.size())));
        }
    }

 private:
    /// Set `value` to a field's value. Return its type.
    jbvType take(const char* field, JsonbValue& value) {
        Assert(taken_count_ < taken_.size());
        taken_[taken_count_++] = field;
        if (getKeyJsonValueFromContainer(&json_->root, field, static_cast<int>(std::strlen(field)),
                                         &value) == nullptr)
            reject(psprintf("The field \"%s\" is missing.", field));
        return value.type;
    }

    Jsonb* json_;
    std::array<std::string_view, 16> taken_{};
    size_t taken_count_ = 0;
};

void write_snowflake(Writer& writer, const GeneratorSnapshot& snapshot) {
    const SnowflakeLayout& layout = snapshot.definition.layout;
    char text[max_layout_text_size + 1];
    *format_layout(layout, text) = '\0';
    writer.add("layout", text);
    const auto node = snapshot.definition.node();
    std::optional<uint64_t> datacenter;
    std::optional<uint64_t> worker;
    if (node) {
        datacenter = *node >> layout.worker_bits;
        worker = *node & layout.max_worker();
    }
    writer.add("datacenter", datacenter);
    writer.add("worker", worker);
    std::optional<int64_t> last_timestamp;
    std::optional<uint64_t> sequence;
    if (snapshot.snowflake_position) {
        last_timestamp = snapshot.snowflake_position->unix_ms;
        sequence = snapshot.snowflake_position->sequence;
    }
    writer.add_time("last_timestamp", last_timestamp);
    writer.add("sequence", sequence);
}

std::optional<int64_t> unix_ms_of(uint64_t units) {
    if (units == 0) return std::nullopt;
    return SnoGenerator::unix_ms_of(units);
}

void write_sno(Writer& writer, const GeneratorSnapshot& snapshot) {
    const SnoPosition& position = snapshot.sno_position;
    std::optional<uint64_t> sequence;
    if (position.units > 0) sequence = position.sequence;
    writer.add("partition", snapshot.definition.partition);
    writer.add_time("last_timestamp", unix_ms_of(position.units));
    writer.add("sequence", sequence);
    writer.add("tick", position.tick);
    writer.add_time("highest_wall_clock", unix_ms_of(position.highest()));
    writer.add_time("safe_mark", unix_ms_of(position.safe));
    writer.add("regressions", snapshot.regressions);
    writer.add("at_count", snapshot.at_count);
}

void read_bounds(Reader& reader, Definition& definition, uint32_t max) {
    definition.sequence_min = static_cast<uint32_t>(reader.get_number("sequence_min", max));
    definition.sequence_max = static_cast<uint32_t>(reader.get_number("sequence_max", max));
    definitions::check_bounds(definition.sequence_min, definition.sequence_max);
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
    const auto datacenter = reader.get_number_or_null("datacenter", layout.max_datacenter());
    const auto worker = reader.get_number_or_null("worker", layout.max_worker());
    if (datacenter.has_value() != worker.has_value())
        reject(R"("datacenter" and "worker" must both be null or both have a value.)");
    if (worker)
        definition.set_node(static_cast<uint32_t>(*datacenter << layout.worker_bits | *worker));
    read_bounds(reader, definition, layout.max_sequence());

    const auto last_timestamp = reader.get_time_or_null("last_timestamp", times_of(layout));
    const auto sequence = read_sequence(reader, definition, last_timestamp.has_value());
    if (last_timestamp)
        snapshot.snowflake_position =
            SnowflakeGenerator::Position{*last_timestamp, static_cast<uint32_t>(*sequence)};
}

uint64_t read_units(Reader& reader, const char* field) {
    const auto unix_ms = reader.get_time_or_null(field, IdTraits<Sno>::times);
    return unix_ms ? Sno::units_at(*unix_ms) : 0;
}

void read_sno(Reader& reader, GeneratorSnapshot& snapshot) {
    Definition& definition = snapshot.definition;
    if (const auto partition = reader.get_number_or_null("partition", UINT16_MAX))
        definition.partition = static_cast<uint32_t>(*partition);
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
    const bool is_sno = snapshot.definition.kind == slots::Kind::sno;
    Writer writer;
    writer.add("version", format_version);
    writer.add("kind", is_sno ? "sno" : "snowflake");
    writer.add("sequence_min", snapshot.definition.sequence_min);
    writer.add("sequence_max", snapshot.definition.sequence_max);
    (is_sno ? write_sno : write_snowflake)(writer, snapshot);
    writer.add_time("now", now_ms);
    return writer.finish();
}

GeneratorSnapshot read_snapshot(Datum json) {
    Reader reader{DatumGetJsonbP(json)};
    GeneratorSnapshot snapshot{};
    const uint64_t version = reader.get_number("version", UINT32_MAX);
    if (version != format_version)
        reject(
            psprintf("The snapshot's version is %llu, but this server supports only version %llu.",
                     static_cast<unsigned long long>(version),
                     static_cast<unsigned long long>(format_version)));
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
    reader.check_all_read();
    return snapshot;
}

}  // namespace snowdrift
