// The SQL edition beside the extension and beside Instagram's function: decoding, time ranges,
// generating, and sessions that generate at the same time. The edition is in a database of its own.
#include "bench.hpp"

namespace snowdrift::bench {
namespace {

const std::string edition = "SQL edition";
const std::string instagram = "Instagram's function";

/// What is measured: an edition, a generator or a table, and the session in whose database it is.
struct Subject {
    std::string label, call, type;
    pqxx::connection& session;
};

/// A statement, and by how many rows or queries its duration is divided.
struct Task {
    std::string label;
    std::string before;  ///< settings
    std::string statement;
    int count;
};

/// Creates a table with an ID for each of the last `rows` seconds.
void make_ids(pqxx::connection& session, int rows) {
    run(session,
        "CREATE TABLE bench_ids (id bigint PRIMARY KEY, uuid uuid); INSERT INTO bench_ids SELECT "
        "make_snowflake(t, 0, 0, 0), uuidv7_at(t) FROM (SELECT now() - n * interval '1 s' AS t "
        "FROM generate_series(1, " +
            std::to_string(rows) + ") AS n) AS times");
    run(session, "VACUUM ANALYZE bench_ids");
}

std::vector<Task> tasks(int rows, int queries) {
    const std::string plan =
        "SET enable_indexscan = %; SET enable_indexonlyscan = %; SET enable_bitmapscan = off";
    const auto decode = [&](const std::string& label, const std::string& call) {
        return Task{label, filled(plan, "off"), "SELECT count(" + call + ") FROM bench_ids", rows};
    };
    const auto scan = [&](const std::string& label, const std::string& range) {
        return Task{"sequential scan, " + label, filled(plan, "off"),
                    "SELECT count(*) FROM bench_ids WHERE snowflake_within(id, " + range + ")",
                    rows};
    };
    const auto queries_for = [&](const std::string& label, const std::string& condition) {
        return Task{"index scan, " + label, filled(plan, "on"),
                    "DO $$DECLARE h timestamptz; BEGIN FOR i IN 1 .. " + std::to_string(queries) +
                        " LOOP h := now() - interval '1 hour' - i * interval '1 s'; PERFORM "
                        "count(*) FROM bench_ids WHERE " +
                        condition + "; END LOOP; END$$",
                    queries};
    };
    return {
        decode("no function", "id"),
        decode("snowflake_timestamp(id)", "snowflake_timestamp(id)"),
        decode("snowflake_to_text(id)", "snowflake_to_text(id)"),
        decode("uuidv7_timestamp(uuid)", "uuidv7_timestamp(uuid)"),
        scan("constant range", "'[2025-01-01Z,infinity)'"),
        scan("range to now()", "tstzrange(now() - interval '1 day', now())"),
        queries_for("two boundaries",
                    "id >= snowflake_boundary(h) AND id < snowflake_boundary(h + "
                    "interval '1 minute')"),
        queries_for("variable range",
                    "snowflake_within(id, tstzrange(h, h + interval '1 minute'))"),
        queries_for("range to now()",
                    "snowflake_within(id, tstzrange(now() - interval '1 minute', "
                    "now())) AND i > 0"),
    };
}

void decoding(Report& report, const Options& options, const std::vector<Subject>& editions) {
    const auto all = tasks(options.quick ? 100'000 : 300'000, options.quick ? 500 : 5'000);
    for (const Subject& each : editions) {
        progress("IDs, " + each.label);
        make_ids(each.session, all.front().count);
    }
    std::vector<Cells> rows;
    for (const Task& task : all) {
        in_turn_when_warm(task.label, options.rounds(9, 5), editions,
                          [&](const Subject& each, bool counts) {
                              run(each.session, task.before);
                              const double us = ms_of(each.session, task.statement) * 1000;
                              if (counts)
                                  report.figure(each.label, task.label, "us", us / task.count);
                          });
        Cells row{task.label};
        for (const Subject& each : editions)
            row.push_back(shown(report.of("sql_edition", each.label, task.label), 2));
        row.push_back(
            shown(report.ratio("sql_edition", task.label, edition, editions.front().label), 1));
        rows.push_back(row);
    }
    for (const Subject& each : editions) run(each.session, "DROP TABLE bench_ids");
    report.table({"us", editions.front().label, edition, "ratio"}, rows);
    report.note(
        "The first six are per row of a table that a query reads as a whole, and include reading "
        "it. The index scans are per query for the IDs of one minute, one per second, in a loop "
        "in PL/pgSQL. Except for the boundaries, the scans are those of `snowflake_within`. In "
        "the SQL edition, a sequential scan computes a range that depends on `now()` again for "
        "each row, and planning a query reads the layout. A query that is planned each time, as "
        "one with a variable is, therefore costs more.");
}

/// Shows a measure of all generators, and its ratio to Instagram's.
void show(Report& report, const std::vector<Subject>& all, const std::string& measure,
          const std::string& title) {
    std::vector<Cells> rows;
    rows.reserve(all.size());
    for (const Subject& subject : all)
        rows.push_back({subject.label, shown(report.of("sql_edition", subject.label, measure), 2),
                        shown(report.ratio("sql_edition", measure, subject.label, instagram), 2)});
    report.table({title, "us", "ratio to " + instagram}, rows);
}

void generating(Report& report, const Options& options, const std::vector<Subject>& all) {
    const std::string count = std::to_string(options.quick ? 20'000 : 50'000);
    in_turn_when_warm("IDs", options.rounds(15, 7), all, [&](const Subject& subject, bool counts) {
        const double ms = ms_of(subject.session, "SELECT count(id) FROM (SELECT " + subject.call +
                                                     " AS id FROM generate_series(1, " + count +
                                                     ") OFFSET 0) AS ids");
        if (counts) report.figure(subject.label, "ID", "us", ms * 1000 / std::stod(count));
    });
    show(report, all, "ID", "one session, per ID");

    in_turn_when_warm(
        "INSERT", options.rounds(9, 5), all, [&](const Subject& subject, bool counts) {
            run(subject.session,
                "DROP TABLE IF EXISTS bench_rows; CREATE TABLE bench_rows (value int, id " +
                    subject.type + " PRIMARY KEY DEFAULT " + subject.call + ")");
            const double ms =
                ms_of(subject.session,
                      "INSERT INTO bench_rows (value) SELECT generate_series(1, " + count + ")");
            if (counts) report.figure(subject.label, "INSERT", "us", ms * 1000 / std::stod(count));
            run(subject.session, "DROP TABLE bench_rows");
        });
    show(report, all, "INSERT", "bulk INSERT with the ID as primary key, per row");
    report.note(
        "Instagram's function is the one that Instagram published: 41 bits for the time, 13 for "
        "the shard, and a sequence modulo 1024, in PL/pgSQL. It repeats IDs when a session draws "
        "more than 1024 in a millisecond, or when the clock is set back. The extension's "
        "`next_snowflake()` is limited by its format to 4096 IDs per millisecond (0.24 us each).");
    report.at_most("SQL edition's next_snowflake() to " + instagram, 3.0,
                   report.ratio("sql_edition", "ID", "next_snowflake(), SQL edition", instagram));
}

/// Thousands of IDs per second.
double thousands(const Subject& subject, int ids, int sessions, int seconds) {
    const std::string statement = ids == 1 ? "SELECT " + subject.call
                                           : "SELECT count(" + subject.call +
                                                 ") FROM generate_series(1, " +
                                                 std::to_string(ids) + ")";
    return throughput(statement, sessions, seconds, subject.session.dbname()) * ids / 1000;
}

void beside_others(Report& report, const Options& options, const std::vector<Subject>& all) {
    constexpr int counts[] = {1, 4, 8};
    for (const int ids : {1, 100}) {
        const auto measure = [&](int sessions) {
            return std::to_string(ids) + " per statement x " + std::to_string(sessions);
        };
        for (const int sessions : counts)
            in_turn(measure(sessions), options.rounds(5, 3), all, [&](const Subject& subject) {
                report.figure(subject.label, measure(sessions), "1000/s",
                              thousands(subject, ids, sessions, options.quick ? 1 : 2));
            });
        std::vector<Cells> rows;
        for (const Subject& subject : all) {
            Cells row{subject.label};
            for (const int sessions : counts) {
                const std::string& label = subject.label;
                row.push_back(shown(report.of("sql_edition", label, measure(sessions)), 1));
                row.push_back(
                    shown(report.ratio("sql_edition", measure(sessions), label, instagram), 2));
            }
            rows.push_back(row);
        }
        Cells header{"thousand IDs per second, " + std::to_string(ids) + " per statement"};
        for (const int sessions : counts) {
            header.push_back("x " + std::to_string(sessions));
            header.push_back("ratio");
        }
        report.table(header, rows);
    }
    report.note(
        "\"x 8\" stands for 8 sessions of `pgbench -n -M prepared -j 2`, which share the machine "
        "with the server. Ratios are to Instagram's function. The SQL edition's sessions draw one "
        "after the other, each under an advisory lock.");
}

}  // namespace

void sql_edition(Report& report, const Options& options) {
    report.begin("sql_edition", "The SQL edition");
    pqxx::connection library;
    pqxx::connection sql{std::string{"dbname="} + sql_edition_database};
    for (pqxx::connection* const session : {&library, &sql})
        run(*session,
            "SET max_parallel_workers_per_gather = 0; SET jit = off;"
            " SET client_min_messages = warning");
    const std::vector<Subject> editions = {{"extension", "", "", library}, {edition, "", "", sql}};
    decoding(report, options, editions);
    const std::vector<Subject> generators = {
        {"nextval", "nextval('bench_sequence')", "bigint", library},
        {instagram, "bench_instagram()", "bigint", library},
        {"next_snowflake(), SQL edition", "next_snowflake()", "bigint", sql},
        {"next_snowflake(name), SQL edition", "next_snowflake('wide')", "bigint", sql},
        {"next_uuidv7(), SQL edition", "next_uuidv7()", "uuid", sql},
        {"next_snowflake(), extension", "next_snowflake()", "bigint", library},
        {"next_snowflake(name), extension", "next_snowflake('wide')", "bigint", library},
        {"next_uuidv7(), extension", "next_uuidv7()", "uuid", library},
    };
    generating(report, options, generators);
    beside_others(report, options, {generators[0], generators[1], generators[2], generators[5]});
}

}  // namespace snowdrift::bench
