// Functions that compose and decode IDs: fields, times and randomness, in and out of their ranges.
#include "fuzz/layout_texts.hpp"
#include "fuzz/sql/targets.hpp"
#include "fuzz/sql/time_model.hpp"

namespace snowdrift::fuzz {
namespace {

/// SQL of a time in Unix milliseconds.
std::string ms_of(const std::string& time) {
    return "(extract(epoch FROM " + time + ") * 1000)::bigint";
}

/// An integer, often near a bound of 0 .. max.
int64_t any_integer(Input& input, int64_t max) {
    if (input.below(8) == 0) return input.between(INT32_MIN, INT32_MAX);
    if (input.below(8) == 0) return input.flag() ? -1 : std::min<int64_t>(max + 1, INT32_MAX);
    return input.between(0, max);
}

/// Expects a value, or one of the errors if there are any.
void expect_either(Session& session, const std::string& statement,
                   const std::vector<Parameter>& parameters, const Values& sqlstates,
                   const std::string& value) {
    if (sqlstates.empty())
        expect(session, statement, parameters, {value});
    else
        expect_error(session, statement, parameters, sqlstates);
}

/// A layout, and its text; the default layout without a text.
struct ChosenLayout {
    model::Layout layout;
    std::vector<Parameter> parameters{};
};

ChosenLayout any_valid_layout(Input& input) {
    if (input.below(4) == 0) return {model::parse_layout("snowflake").layout};
    const std::string preset = input.pick(model::presets()).first;
    const std::string text = layout_text(input);
    const model::ParsedLayout parsed = model::parse_layout(text);
    if (parsed.fault == model::LayoutFault::none && text.find('\0') == text.npos)
        return {parsed.layout, {{text}}};
    return {model::parse_layout(preset).layout, {{preset}}};
}

void check_snowflake(Session& session, Input& input) {
    const ChosenLayout chosen = any_valid_layout(input);
    const model::Layout& layout = chosen.layout;
    std::vector<Parameter> parameters = chosen.parameters;
    const std::string with = parameters.empty() ? "" : ", $1::snowflake_layout";
    const std::string n = parameters.empty() ? "$1" : "$2";

    const auto max_id = static_cast<int64_t>(model::number_of(layout.max_bits()));
    const int64_t id =
        input.flag() ? input.between(0, max_id) : static_cast<int64_t>(input.number());
    parameters.push_back(binary(id));
    const std::string parts = "SELECT " + ms_of("timestamp") +
                              ", datacenter, worker, sequence FROM snowflake_parts(" + n +
                              "::bigint" + with + ")";
    const std::string each = "SELECT " + ms_of("snowflake_timestamp(" + n + with + ")") +
                             ", snowflake_datacenter(" + n + with + "), snowflake_worker(" + n +
                             with + "), snowflake_sequence(" + n + with + ")";
    const std::string diagram = "SELECT length(snowflake_diagram(" + n + with + ")) > 64";
    if (layout.has_id(id)) {
        auto fields = layout.split(id);
        const Values expected{std::to_string(layout.unix_ms(id)),
                              std::to_string(fields["datacenter"]),
                              std::to_string(fields["worker"]), std::to_string(fields["sequence"])};
        expect(session, parts, parameters, expected);
        expect(session, each, parameters, expected);
        expect(session, diagram, parameters, {"t"});
    } else {
        for (const std::string& statement : {parts, each, diagram})
            expect_error(session, statement, parameters, {"22003"});
    }
    parameters.pop_back();

    const int64_t last_ms = layout.unix_ms(max_id);
    const Time time = any_time(input, layout.epoch, last_ms);
    const auto first_unit = [&](Wide ms) {
        return model::first_unit(layout.unit_count(), layout.epoch, layout.unit, ms);
    };
    const auto max_of = [&](const char* name) {
        return (int64_t{1} << std::min<int64_t>(layout.width(name), 31)) - 1;
    };
    parameters.push_back(time.parameter());
    const Wide ceil = ceil_ms(time.micros());
    const bool has_boundary = ceil >= layout.epoch && ceil <= last_ms;
    expect_either(session, "SELECT snowflake_boundary(" + n + "::timestamptz" + with + ")",
                  parameters, has_boundary ? Values{} : Values{"22008"},
                  std::to_string(has_boundary ? layout.of(first_unit(ceil), '0') : 0));

    const Wide floor = floor_ms(time.micros());
    Values errors;
    std::map<std::string, uint64_t> fields;
    if (floor >= layout.epoch && floor < last_ms + layout.unit)
        fields["timestamp"] = first_unit(floor + 1) - 1;
    else
        errors.emplace_back("22008");
    for (const char* const name : {"datacenter", "worker", "sequence"}) {
        const int64_t value = any_integer(input, max_of(name));
        if (value < 0 || value > max_of(name)) errors.emplace_back("22003");
        fields[name] = static_cast<uint64_t>(value);
        parameters.push_back(binary(value, 4));
    }
    const std::string make = parameters.size() == 4
                                 ? "SELECT make_snowflake($1, $2, $3, $4)"
                                 : "SELECT make_snowflake($2, $3, $4, $5, $1::snowflake_layout)";
    expect_either(session, make, parameters, errors,
                  std::to_string(errors.empty() ? layout.compose(fields) : 0));
    parameters[input.below(parameters.size())].value.reset();
    expect(session, make, parameters, {"null"});
}

void check_sno(Session& session, Input& input) {
    const Bits bits = model::bits_of_bytes(input.bytes<10>());
    const Parameter id{bytes_of(bits), true};
    const auto shown = [&](size_t first, size_t width) {
        return std::to_string(model::field(bits, first, width));
    };
    const Values fields{std::to_string(model::unix_ms<model::Sno>(bits)), shown(39, 1),
                        shown(40, 8), shown(48, 16), shown(64, 16)};
    expect(session,
           "SELECT " + ms_of("timestamp") +
               ", tick, metabyte, partition, sequence FROM sno_parts($1::sno)",
           {id}, fields);
    expect(session,
           "SELECT " + ms_of("sno_timestamp($1)") +
               ", sno_tick($1), sno_metabyte($1), sno_partition($1), sno_sequence($1)",
           {id}, fields);

    constexpr struct {
        const char* name;
        size_t first, width;
    } settable[] = {{"metabyte", 40, 8}, {"partition", 48, 16}, {"sequence", 64, 16}};
    const Time time = any_time(input, model::Sno::epoch, 3'461'327'255'548);
    const Wide ms = floor_ms(time.micros());
    const bool has_time = ms >= model::Sno::epoch && ms <= 3'461'327'255'548;
    Values errors = has_time ? Values{} : Values{"22008"};
    Bits made = has_time ? model::Sno::of(model::first_unit(uint64_t{1} << 39, model::Sno::epoch,
                                                            model::Sno::unit, ms + 1) -
                                              1,
                                          '0')
                         : bits;
    std::vector<Parameter> parameters{time.parameter()};
    for (const auto& [name, first, width] : settable) {
        const int64_t max = (int64_t{1} << width) - 1;
        const int64_t value = any_integer(input, max);
        const bool is_valid = value >= 0 && value <= max;
        const Bits digits = model::bits_of(static_cast<uint64_t>(value), width);
        Bits changed = bits;
        changed.replace(first, width, digits);
        made.replace(first, width, digits);
        if (!is_valid) errors.emplace_back("22003");
        expect_either(session, std::string{"SELECT sno_set_"} + name + "($1, $2)",
                      {id, binary(value, 4)}, is_valid ? Values{} : Values{"22003"},
                      model::Sno::text(changed));
        parameters.push_back(binary(value, 4));
    }
    const int64_t tick = any_integer(input, 1);
    if (tick != 0 && tick != 1) errors.emplace_back("22003");
    made[39] = tick == 0 ? '0' : '1';
    parameters.push_back(binary(tick, 4));
    expect_either(session, "SELECT make_sno($1, $2, $3, $4, $5)", parameters, errors,
                  model::Sno::text(made));
}

/// ULIDs, and UUIDs of version 7 if `is_uuid`.
template <typename Format>
void check_random(Session& session, Input& input, const std::string& name) {
    constexpr bool is_uuid = std::is_same_v<Format, model::Uuidv7>;
    Bits bits = model::bits_of_bytes(input.bytes<16>());
    if (is_uuid && input.flag()) bits = model::Uuidv7::with_version_7(bits);
    const Parameter id{bytes_of(bits), true};
    Values expected{std::to_string(model::unix_ms<Format>(bits)), ""};
    if constexpr (is_uuid)
        expected[1] = hex(bytes_of("000000" + model::Uuidv7::randomness(bits)));
    else
        expected[1] = hex(bytes_of(bits.substr(48)));
    if (is_uuid && !model::Uuidv7::is_version_7(bits)) expected = {"null", "null"};
    expect(session, "SELECT " + ms_of(name + "_timestamp($1)"), {id}, {expected[0]});
    expect(session, "SELECT " + name + "_randomness($1)", {id}, {expected[1]});

    const Time time = any_time(input, 0, model::unix_ms<Format>(Format::of(UINT64_MAX, '1')));
    const Wide ms = floor_ms(time.micros());
    std::string randomness = bytes_of(model::bits_of_bytes(input.bytes<10>()));
    if (input.flag()) randomness[0] = static_cast<char>(input.below(4));
    if (input.below(8) == 0) randomness.resize(input.below(30));
    const Bits digits = model::bits_of_bytes(randomness);
    Values errors;
    if (ms < 0 || ms >= Wide{1} << 48) errors.emplace_back("22008");
    if constexpr (is_uuid)
        expect_either(session, "SELECT " + ms_of("uuidv7_timestamp(uuidv7_at($1))"),
                      {time.parameter()}, errors, std::to_string(static_cast<int64_t>(ms)));
    const bool is_valid = randomness.size() == 10 && (!is_uuid || digits.starts_with("000000"));
    if (!is_valid) errors.emplace_back("22023");
    std::string made;
    if (errors.empty()) {
        const Bits timestamp = model::bits_of(static_cast<uint64_t>(ms), 48);
        made =
            is_uuid
                ? Format::text(timestamp + "0111" + digits.substr(6, 12) + "10" + digits.substr(18))
                : Format::text(timestamp + digits);
    }
    expect_either(session, "SELECT make_" + name + "($1, $2)",
                  {time.parameter(), {randomness, true}}, errors, made);
}

}  // namespace

void check_fields(Session& session, Input& input) {
    switch (input.below(4)) {
        case 0:
            check_sno(session, input);
            break;
        case 1:
            check_random<model::Ulid>(session, input, "ulid");
            break;
        case 2:
            check_random<model::Uuidv7>(session, input, "uuidv7");
            break;
        default:
            check_snowflake(session, input);
    }
}

}  // namespace snowdrift::fuzz
