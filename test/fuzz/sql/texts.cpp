// The input functions of the types, text forms of Snowflakes, and TypeIDs.
#include "fuzz/layout_texts.hpp"
#include "fuzz/sql/targets.hpp"

namespace snowdrift::fuzz {
namespace {

/// Whether the server accepts the bytes as UTF-8.
bool is_utf8(const std::string& text) {
    for (size_t i = 0; i < text.size();) {
        const Bits first = model::bits_of(static_cast<uint8_t>(text[i++]), 8);
        const size_t length = first.starts_with("0")       ? 1
                              : first.starts_with("110")   ? 2
                              : first.starts_with("1110")  ? 3
                              : first.starts_with("11110") ? 4
                                                           : 0;
        if (length == 0) return false;
        Bits bits = first.substr(length == 1 ? 1 : length + 1);
        for (size_t n = 1; n < length; ++n, ++i) {
            if (i == text.size()) return false;
            const Bits next = model::bits_of(static_cast<uint8_t>(text[i]), 8);
            if (!next.starts_with("10")) return false;
            bits += next.substr(2);
        }
        const uint64_t point = model::number_of(bits);
        constexpr uint64_t first_points[] = {0, 0x80, 0x800, 0x10000};
        if (point < first_points[length - 1] || point > 0x10ffff ||
            (point >= 0xd800 && point <= 0xdfff))
            return false;
    }
    return true;
}

/// Expects the values for a valid text (no SQLSTATE), or an error of the SQLSTATE with a detail.
/// `type`: its name if the statement is its input function.
void check_text(Session& session, const std::string& statement, const std::string& text,
                std::string sqlstate, const Values& values, const std::string& type = "") {
    if (!is_utf8(text)) sqlstate = "22021";
    const std::vector<Parameter> parameters{{text}};
    if (sqlstate.empty()) {
        expect(session, statement, parameters, values);
    } else {
        const Outcome outcome = session.run(statement, parameters);
        if (outcome.sqlstate != sqlstate || (sqlstate == "22P02" && outcome.detail.empty()))
            disagree(statement, parameters, outcome, sqlstate);
    }
    if (type.empty() || session.version() < 16 || sqlstate == "22021") return;
    const std::string soft = "SELECT pg_input_is_valid($1, '" + type +
                             "'), (pg_input_error_info($1, '" + type + "')).sql_error_code";
    expect(session, soft, parameters,
           {sqlstate.empty() ? "t" : "f", sqlstate.empty() ? "null" : sqlstate});
}

const char* error_of(const model::Decoded& decoded) {
    return decoded.fault == model::Fault::none ? "" : "22P02";
}

/// `text` up to the first zero byte, where the protocol ends a text.
std::string without_zero(const std::string& text) { return text.substr(0, text.find('\0')); }

/// A text of `Format`, or another text.
template <typename Format>
void check_id(Session& session, Input& input, const std::string& type) {
    const Bits bits = model::bits_of_bytes(input.bytes<Format::width / 8>());
    const std::string text =
        without_zero(input.below(8) == 0 ? std::string{input.rest().substr(0, input.byte())}
                                         : input.mutated(Format::text(bits)));
    const model::Decoded decoded = Format::parse(text);
    check_text(
        session,
        "SELECT $1::" + type + "::text, $1::" + type + "::bytea, snowdrift." + type + "_send($1)",
        text, error_of(decoded),
        {Format::text(decoded.bits), hex(bytes_of(decoded.bits)), hex(bytes_of(decoded.bits))},
        type);
    if (type == "ulid")
        expect_same(session, "SELECT $1::ulid::uuid, $1::ulid::text",
                    "SELECT ulid_to_uuid($1), ulid_to_text(ulid_to_uuid($1))", {{text}});
}

void check_layout(Session& session, Input& input) {
    const std::string text = without_zero(layout_text(input));
    const model::ParsedLayout parsed = model::parse_layout(text);
    const char* const error = parsed.fault == model::LayoutFault::none     ? ""
                              : parsed.fault == model::LayoutFault::syntax ? "22P02"
                                                                           : "22023";
    std::string expected;
    if (*error == '\0') expected = model::without_empty_sequence(parsed.layout.text());
    check_text(session, "SELECT replace($1::snowflake_layout::text, ' sequence=0', '')", text,
               error, {expected}, "snowflake_layout");
    // The SQL edition checks a layout when it is used.
    (void)session.run(
        "SELECT snowflake_worker(1, $1), extract(epoch FROM snowflake_timestamp(1, $1))", {{text}});
    if (*error == '\0')
        expect(session,
               "SELECT $1::snowflake_layout = $1::snowflake_layout::text::snowflake_layout",
               {{text}}, {"t"});
}

void check_snowflake(Session& session, Input& input) {
    const auto id = static_cast<int64_t>(input.number());
    const Parameter parameter = binary(id);
    const std::string valid = model::snowflake_text(static_cast<uint64_t>(id));
    const std::string to_text = "SELECT snowflake_to_text($1::bigint)";
    if (id < 0)
        expect_error(session, to_text, {parameter}, {"22003"});
    else
        expect(session, to_text, {parameter}, {valid});
    const std::string text = without_zero(input.mutated(valid));
    const model::Decoded decoded = model::parse_snowflake_text(text);
    check_text(session, "SELECT snowflake_from_text($1)", text, error_of(decoded),
               {std::to_string(model::number_of(decoded.bits))});
}

void check_typeid(Session& session, Input& input) {
    const Bits uuid = model::bits_of_bytes(input.bytes<16>());
    std::string prefix;
    for (size_t length = input.below(70); length > 0; --length)
        prefix += "abcdefghijklmnopqrstuvwxyz__"[input.below(28)];
    prefix = without_zero(input.mutated(prefix));
    const std::string valid = model::TypeId::text(prefix, uuid);
    const std::string to_text = "SELECT typeid_to_text($1, $2::uuid)";
    const std::vector<Parameter> parameters{{prefix}, {bytes_of(uuid), true}};
    if (!is_utf8(prefix))
        expect_error(session, to_text, parameters, {"22021"});
    else if (model::TypeId::check_prefix(prefix).fault != model::TypeId::Fault::none)
        expect_error(session, to_text, parameters, {"22023"});
    else
        expect(session, to_text, parameters, {valid});

    const std::string text = without_zero(input.mutated(valid));
    const model::TypeId parsed = model::TypeId::parse(text);
    const bool is_valid = parsed.fault == model::TypeId::Fault::none;
    check_text(session, "SELECT typeid_prefix($1), typeid_to_uuid($1)", text,
               is_valid ? "" : "22P02", {parsed.prefix, model::Uuidv7::text(parsed.suffix.bits)});
}

}  // namespace

void check_texts(Session& session, Input& input) {
    switch (input.below(5)) {
        case 0:
            check_id<model::Ulid>(session, input, "ulid");
            break;
        case 1:
            check_id<model::Sno>(session, input, "sno");
            break;
        case 2:
            check_layout(session, input);
            break;
        case 3:
            check_snowflake(session, input);
            break;
        default:
            check_typeid(session, input);
    }
}

}  // namespace snowdrift::fuzz
