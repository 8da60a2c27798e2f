// Snapshots given to snowdrift.restore(): changed fields, and damaged texts. No snapshot may raise
// an undocumented error, or move a generator or the mark back.
#include <set>

#include "fuzz/layout_texts.hpp"
#include "fuzz/sql/targets.hpp"

namespace snowdrift::fuzz {
namespace {

/// The fields of a JSON object: names, and values as JSON.
using Fields = std::vector<std::pair<std::string, std::string>>;

std::string json_string(const std::string& text) {
    std::string json = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') json += '\\';
        if (static_cast<uint8_t>(c) >= ' ') json += c;
    }
    return json + '"';
}

std::string json_of(const Fields& fields) {
    std::string json;
    for (const auto& [name, value] : fields)
        json += (json.empty() ? "{" : ",") + json_string(name) + ":" + value;
    return json.empty() ? "{}" : json + "}";
}

/// JSON numbers, most of them near the bound of a field of a snapshot.
constexpr const char* numbers[] = {
    "-1",
    "0",
    "-0",
    "1",
    "2",
    "3",
    "4",
    "1.0",
    "1.5",
    "1e3",
    "1e400",
    "1e-400",
    "31",
    "32",
    "255",
    "256",
    "4095",
    "4096",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
};

/// A JSON value, valid or invalid, for a field of a snapshot.
std::string any_value(Input& input) {
    constexpr const char* values[] = {
        "null",
        "true",
        "[]",
        "{}",
        "[1, {\"kind\": 1}]",
        "\"\"",
        "\"sno\"",
        "\"snowflake\"",
        "\"ulid\"",
        "\"1\"",
        "\"infinity\"",
        "\"now\"",
        "\"2026-01-01\"",
        "\"2010-01-01T00:00:00Z\"",
        "\"2010-01-01T00:00:00.004Z\"",
        "\"2079-09-07T15:47:35.548Z\"",
        "\"2079-09-07T15:47:35.549Z\"",
        "\"0000-01-01T00:00:00Z\"",
        "\"9999-12-31T23:59:59.999Z\"",
        "\"1969-12-31T23:59:59.999Z\"",
    };
    switch (input.below(4)) {
        case 0:
            return json_string(layout_text(input));
        case 1:
            return json_string(input.mutated(
                model::utc_text(input.between(-62'167'219'200'000, 253'402'300'799'999))));
        case 2:
            return input.pick(numbers);
        default:
            return input.pick(values);
    }
}

/// A time or a number near the one that a field has, or another number.
std::string near(const std::string& value, Input& input) {
    constexpr int64_t offsets[] = {1, 3, 4, 5, 50, 20'000, 60'000, 3'600'000, 86'400'000};
    const int64_t distance = input.pick(offsets);
    const int64_t offset = input.flag() ? distance : -distance;
    if (const auto time = model::parse_utc(value.substr(0, value.size() - 1).erase(0, 1)))
        return json_string(model::utc_text(*time + offset));
    int64_t number = 0;
    if (!model::parse_integer(value, 18, number)) return value;
    return input.flag() ? input.pick(numbers) : std::to_string(number + offset);
}

std::string mutated(Fields fields, Input& input) {
    for (size_t changes = input.below(4); changes > 0 && !fields.empty(); --changes) {
        auto& [name, value] = fields[input.below(fields.size())];
        switch (input.below(8)) {
            case 0:
                fields.erase(fields.begin() + static_cast<int64_t>(input.below(fields.size())));
                break;
            case 1:
                name = input.mutated(name);
                break;
            case 2:
                value = input.pick(fields).second;
                break;
            case 3:
                fields.push_back(input.pick(fields));
                fields.back().second = any_value(input);
                break;
            case 4:
                value = any_value(input);
                break;
            default:
                value = near(value, input);
        }
    }
    const std::string json = json_of(fields);
    return input.below(8) == 0 ? input.mutated(json) : json;
}

/// A generator that this target creates, and draws from.
struct Generator {
    std::string name, create, draw;

    std::string next(Session& session) const {
        const Outcome outcome = session.run(draw);
        if (outcome.is_error()) disagree(draw, {}, outcome, "an ID");
        return outcome.first()[0];
    }
};

const Generator generators[] = {
    {"fuzz snowflake",
     "SELECT snowdrift.create_generator('fuzz snowflake', 'snowflake', worker => 7)",
     "SELECT next_snowflake('fuzz snowflake')"},
    {"fuzz sno", "SELECT snowdrift.create_generator('fuzz sno', 'sno', partition => 7)",
     "SELECT next_sno('fuzz sno')"},
};

const std::string restore = "SELECT snowdrift.restore($1, $2)";

void create_generators(Session& session) {
    static bool is_done = false;
    if (is_done) return;
    is_done = true;
    // A generator waits for at most one second, and so does a snapshot that is ahead of the clock.
    session.run("SET snowdrift.max_clock_lead = 0");
    for (const Generator& each : generators) {
        session.run("SELECT snowdrift.drop_generator($1)", {{each.name}});
        expect(session, each.create, {}, {""});
    }
}

/// The values that may only grow: the mark, and those of the generator's snapshot.
Values state_of(Session& session, const std::string& name) {
    const auto time = [](const std::string& value) {
        return "to_char((" + value + ")::timestamptz, 'YYYY-MM-DD HH24:MI:SS.MS')";
    };
    return session
        .run("SELECT " + time("snapshot->>'last_timestamp'") +
                 ", lpad(snapshot->>'sequence', 20), " + time("snapshot->>'highest_wall_clock'") +
                 ", " + time("snapshot->>'safe_mark'") +
                 ", lpad(snapshot->>'regressions', 20), lpad(snapshot->>'at_count', 20), " +
                 time("mark") + " FROM snowdrift.clock, snowdrift.snapshot($1) AS snapshot",
             {{name}})
        .first();
}

/// Whether a state has not moved back.
bool is_not_before(const Values& now, const Values& before) {
    if (now.size() != before.size()) return false;
    for (const size_t i : {0, 2, 3, 4, 5, 6})
        if (before[i] != "null" && now[i] < before[i]) return false;
    return now[0] != before[0] || before[1] == "null" || now[1] >= before[1];
}

/// Expects that the state of a generator is not before the snapshot that it has resumed.
void expect_resumed(Session& session, const Values& state, const std::string& snapshot) {
    const auto value = [&](size_t i) {
        return state[i] == "null" ? Parameter{} : Parameter{state[i]};
    };
    const auto unit_of = [](const std::string& field) {
        return "date_bin((CASE snapshot->>'kind' WHEN 'sno' THEN 4 ELSE 1 END) * interval '1 ms', "
               "(snapshot->>'" +
               field + "')::timestamptz, timestamptz '2010-01-01')";
    };
    expect(session,
           "SELECT coalesce((" + unit_of("last_timestamp") +
               ", (snapshot->>'sequence')::numeric) <= ($1::timestamptz, $2::numeric), "
               "snapshot->>'last_timestamp' IS NULL) AND coalesce(" +
               unit_of("highest_wall_clock") +
               " <= $3::timestamptz, snapshot->>'highest_wall_clock' IS NULL) "
               "FROM CAST($4 AS jsonb) AS snapshot",
           {value(0), value(1), value(2), {snapshot}}, {"t"});
}

/// Restores a snapshot. Returns whether the server has accepted it.
bool restore_snapshot(Session& session, const std::string& name, const std::string& snapshot) {
    const std::vector<Parameter> parameters{{name}, {snapshot}};
    const Outcome outcome = session.run(restore, parameters);
    for (const char* const documented : {"", "22023", "22003", "22008", "55000"})
        if (outcome.sqlstate == documented) return !outcome.is_error();
    disagree(restore, parameters, outcome, "a documented error");
}

}  // namespace

void check_snapshots(Session& session, Input& input) {
    static std::set<std::string> drawn;
    create_generators(session);
    const Generator& generator = input.pick(generators);
    const std::string last = generator.next(session);
    if (!drawn.insert(last).second) disagree(generator.draw, {}, {}, "a new ID, not " + last);

    Fields fields;
    const Outcome snapshot = session.run(
        "SELECT key, value FROM jsonb_each(snowdrift.snapshot($1))", {{generator.name}});
    for (const auto& row : snapshot.rows) fields.emplace_back(row[0].value(), row[1].value());
    const Values before = state_of(session, generator.name);
    const std::string changed = mutated(fields, input);
    if (session.run("SELECT $1::jsonb", {{changed}}).is_error()) return;  // PostgreSQL's parser

    // into the generator that it is from
    const bool is_accepted = restore_snapshot(session, generator.name, changed);
    const std::vector<Parameter> parameters{{generator.name}, {changed}};
    if (!is_accepted && changed == json_of(fields))
        disagree(restore, parameters, {}, "the generator to accept its own snapshot");
    const Values after = state_of(session, generator.name);
    if (!is_not_before(after, before)) disagree(restore, parameters, {}, "no state to move back");
    if (is_accepted) expect_resumed(session, after, changed);
    const std::string next = generator.next(session);
    if (!drawn.insert(next).second) disagree(restore, parameters, {}, "no ID to be repeated");
    if (generator.name == "fuzz snowflake" && std::stoll(next) <= std::stoll(last))
        disagree(restore, parameters, {}, "IDs to ascend");

    // into a new generator
    const std::string other = "fuzz new";
    if (!restore_snapshot(session, other, changed)) return;
    const Values created = state_of(session, other);
    expect(
        session,
        "SELECT bool_and(own.value = given.value) FROM jsonb_each(snowdrift.snapshot($1)) AS own "
        "JOIN jsonb_each($2::jsonb) AS given USING (key) WHERE key IN ('kind', 'datacenter', "
        "'worker', 'partition', 'sequence_min', 'sequence_max', 'tick') AND given.value <> 'null'",
        {{other}, {changed}}, {"t"});
    session.run("SELECT snowdrift.drop_generator($1)", {{other}});
    expect_resumed(session, created, changed);
    if (created[6] < after[6]) disagree(restore, parameters, {}, "the mark not to move back");
}

}  // namespace snowdrift::fuzz
