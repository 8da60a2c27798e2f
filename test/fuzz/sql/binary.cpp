// Binary values: COPY, parameters, and casts from bytea and uuid.
#include "fuzz/layout_texts.hpp"
#include "fuzz/sql/targets.hpp"

namespace snowdrift::fuzz {
namespace {

/// The beginning and the end of COPY's binary form.
const std::string header{"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", 19};
const std::string trailer = "\xff\xff";

std::string row_of(const std::string& value) {
    return *binary(1, 2).value + *binary(static_cast<int64_t>(value.size()), 4).value + value;
}

/// What the server returns for a value in binary form.
struct Expected {
    std::string sqlstate;
    std::string text;    ///< of a valid value
    std::string binary;  ///< the same
};

template <typename Format>
Expected expected_id(const std::string& value) {
    if (value.size() != Format::width / 8) return {"22P03", "", ""};
    return {"", Format::text(model::bits_of_bytes(value)), value};
}

/// The binary form of a layout: the epoch in 8 bytes; the widths of timestamp, datacenter, worker
/// and sequence, js, and the order, in 1 byte each; the unit in 2 bytes.
Expected expected_layout(const std::string& value) {
    if (value.size() < 14 || (value.size() < 16 && value[13] >= 0 && value[13] <= 5))
        return {"08P01", "", ""};
    const Bits bits = model::bits_of_bytes(value);
    const auto number = [&](size_t byte, size_t size) {
        return static_cast<int64_t>(model::field(bits, 8 * byte, 8 * size));
    };
    const Expected error{"22P03", "", ""};
    const std::pair<std::string, int64_t> datacenter{"datacenter", number(9, 1)};
    const std::pair<std::string, int64_t> worker{"worker", number(10, 1)};
    const std::pair<std::string, int64_t> sequence{"sequence", number(11, 1)};
    model::Layout layout{
        number(0, 8), number(14, 2), number(12, 1) != 0, {{"timestamp", number(8, 1)}}};
    const auto add = [&](auto... fields) { (layout.fields.push_back(fields), ...); };
    switch (number(13, 1)) {
        case 0:
            add(datacenter, worker, sequence);
            break;
        case 1:
            add(datacenter, sequence, worker);
            break;
        case 2:
            add(worker, datacenter, sequence);
            break;
        case 3:
            add(worker, sequence, datacenter);
            break;
        case 4:
            add(sequence, datacenter, worker);
            break;
        case 5:
            add(sequence, worker, datacenter);
            break;
        default:
            return error;
    }
    if (!layout.is_valid() || value.size() > 16) return error;
    return {"", model::without_empty_sequence(layout.text()), ""};
}

/// The binary form of a layout, which may be invalid.
std::string layout_value(Input& input) {
    const model::Layout layout = any_layout(input);
    std::string value = *binary(layout.epoch).value;
    for (const char* const name : {"timestamp", "datacenter", "worker", "sequence"})
        value += static_cast<char>(layout.width(name));
    value += static_cast<char>(layout.js ? 1 + input.below(2) : 0);
    value += static_cast<char>(input.below(7));
    value += *binary(layout.unit, 2).value;
    if (input.below(4) == 0) value[input.below(value.size())] = static_cast<char>(input.byte());
    return value;
}

/// Copies the values into a table and out of it again, in binary form.
void check_copy(Session& session, const std::string& type, const std::vector<std::string>& values,
                Expected (*expected_of)(const std::string&)) {
    session.run("CREATE TEMP TABLE IF NOT EXISTS copy_" + type + " (v " + type + ")");
    session.run("TRUNCATE copy_" + type);
    std::string data = header;
    std::string copied = header;
    std::string sqlstate;
    Values texts;
    for (const std::string& value : values) {
        const Expected expected = expected_of(value);
        if (sqlstate.empty()) sqlstate = expected.sqlstate;
        texts.push_back(expected.text);
        data += row_of(value);
        copied += row_of(expected.binary.empty() ? value : expected.binary);
    }
    const std::string statement = "COPY copy_" + type + " FROM STDIN (FORMAT binary)";
    const Outcome outcome = session.copy_in(statement, data + trailer);
    if (outcome.sqlstate != sqlstate)
        disagree(statement, {{data, true}}, outcome, sqlstate.empty() ? "no error" : sqlstate);
    if (!sqlstate.empty()) return;
    Outcome read = session.run("SELECT replace(v::text, ' sequence=0', '') FROM copy_" + type);
    Values read_texts;
    for (const auto& row : read.rows) read_texts.push_back(row[0].value_or("null"));
    if (read_texts != texts) disagree(statement, {{data, true}}, read, texts[0] + " ...");
    if (type == "snowflake_layout") return;  // equal layouts have one binary form
    const std::string out = session.copy_out("COPY copy_" + type + " TO STDOUT (FORMAT binary)");
    if (out != copied + trailer) disagree(statement, {{data, true}}, {}, visible(copied));
}

/// Copies data whose frame is damaged too. Errors of the frame are PostgreSQL's own, including
/// 54000 and 53200 for the length of a value.
void check_damaged_copy(Session& session, Input& input, const std::string& type,
                        const std::string& value) {
    session.run("CREATE TEMP TABLE IF NOT EXISTS copy_" + type + " (v " + type + ")");
    std::string data = header + row_of(value) + row_of(value) + trailer;
    for (size_t changes = 1 + input.below(3); changes > 0; --changes)
        data[input.below(data.size())] = static_cast<char>(input.byte());
    const std::string statement = "COPY copy_" + type + " FROM STDIN (FORMAT binary)";
    const Outcome outcome = session.copy_in(statement, data);
    for (const char* const allowed : {"", "22P03", "22P04", "08P01", "54000", "53200"})
        if (outcome.sqlstate == allowed) return;
    disagree(statement, {{data, true}}, outcome, "22P03, 22P04 or 08P01");
}

/// A value as a parameter in binary form, and as a bytea that is cast.
void check_value(Session& session, const std::string& type, const std::string& value,
                 const Expected& expected) {
    const std::vector<Parameter> parameters{{value, true}};
    for (const std::string& cast : {"$1::" + type, "$1::bytea::" + type}) {
        const std::string statement =
            "SELECT (" + cast + ")::text, snowdrift." + type + "_send(" + cast + ")";
        if (expected.sqlstate.empty())
            expect(session, statement, parameters, {expected.text, hex(expected.binary)});
        else
            expect_error(session, statement, parameters, {expected.sqlstate});
    }
}

template <typename Format>
void check_id(Session& session, Input& input, const std::string& type) {
    std::vector<std::string> values;
    for (size_t count = 1 + input.below(3); count > 0; --count) {
        values.push_back(bytes_of(model::bits_of_bytes(input.bytes<Format::width / 8>())));
        if (input.below(4) == 0) values.back() = input.mutated(values.back());
    }
    check_copy(session, type, values, expected_id<Format>);
    check_value(session, type, values[0], expected_id<Format>(values[0]));
    check_damaged_copy(session, input, type, values[0]);
}

/// Casts between uuid and the ID types.
void check_uuid(Session& session, Input& input) {
    const Bits bits = model::bits_of_bytes(input.bytes<16>());
    const Parameter uuid{bytes_of(bits), true};
    expect(session, "SELECT $1::uuid::ulid, $1::uuid::ulid::uuid", {uuid},
           {model::Ulid::text(bits), model::Uuidv7::text(bits)});
    const std::string text = model::Sno::text(bits.substr(0, 80));
    expect(session, "SELECT $1::sno::uuid", {{text}},
           {model::Uuidv7::text(model::bits_of_bytes(text))});
    std::string mutated = input.mutated(text);
    mutated.resize(16, '\xff');
    const Parameter from{mutated, true};
    if (model::Sno::parse(mutated).fault == model::Fault::none)
        expect(session, "SELECT $1::uuid::sno", {from}, {mutated});
    else
        expect_error(session, "SELECT $1::uuid::sno", {from}, {"22P02"});
}

}  // namespace

void check_binary(Session& session, Input& input) {
    switch (input.below(4)) {
        case 0:
            check_id<model::Ulid>(session, input, "ulid");
            break;
        case 1:
            check_id<model::Sno>(session, input, "sno");
            break;
        case 2:
            check_uuid(session, input);
            break;
        default: {
            const std::string value = layout_value(input);
            check_copy(session, "snowflake_layout", {value, input.mutated(layout_value(input))},
                       expected_layout);
            check_damaged_copy(session, input, "snowflake_layout", value);
        }
    }
}

}  // namespace snowdrift::fuzz
