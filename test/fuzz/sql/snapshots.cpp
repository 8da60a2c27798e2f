// Snapshots given to snowdrift.restore(): changed fields, and damaged strings. No snapshot may
// an undocumented error, or move a generator or the mark back.
#include <set>

#include "fuzz/snapshot_model.hpp"
#include "fuzz/snapshot_texts.hpp"
#include "fuzz/sql/targets.hpp"

namespace snowdrift::fuzz {
namespace {

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
     "SELECT snowdrift.create_generator('fuzz snowflake', 'snowflake', worker => 7, spread => "
     "true)",
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
    // The greatest number in a state of a generator that spreads its starts is below sequence_max.
    const std::string sequence =
        "least((snapshot->>'sequence')::numeric, CASE WHEN (snapshot->>'spread')::boolean THEN "
        "(snapshot->>'sequence_max')::bigint + 1 - ((snapshot->>'sequence_max')::bigint "
        "- (snapshot->>'sequence_min')::bigint + 1) / 16 END)";
    expect(session,
           "SELECT coalesce((" + unit_of("last_timestamp") + ", " + sequence +
               ") <= ($1::timestamptz, $2::numeric), "
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
    const Fields changed_fields = fuzz::changed(fields, input);
    std::string changed = json_of(changed_fields);
    const bool is_damaged = input.below(8) == 0;
    if (is_damaged) changed = input.mutated(changed);
    if (session.run("SELECT $1::jsonb", {{changed}}).is_error()) return;  // PostgreSQL's parser
    const bool is_valid = is_damaged || model::SnapshotReader{changed_fields}.read().has_value();

    // into the generator that it is from
    const bool is_accepted = restore_snapshot(session, generator.name, changed);
    const std::vector<Parameter> parameters{{generator.name}, {changed}};
    if (!is_accepted && changed == json_of(fields))
        disagree(restore, parameters, {}, "the generator to accept its own snapshot");
    if (is_accepted && !is_valid) disagree(restore, parameters, {}, "the snapshot to be invalid");
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
