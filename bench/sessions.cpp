// Many concurrent sessions: throughput and latency of single statements, and the share of the
// format's capacity that the sessions use.
#include <algorithm>
#include <chrono>

#include "bench.hpp"
#include "integration/sessions.hpp"

namespace snowdrift::bench {

double throughput(const std::string& statement, int sessions, int seconds,
                  const std::string& database) {
    const std::string output = shell(
        "echo \"" + statement + "\" | pgbench -n -M prepared -f - -c " + std::to_string(sessions) +
        " -j 2 -T " + std::to_string(seconds) + " " + database + " 2>&1");
    const size_t tps = output.find("tps = ");
    if (tps == std::string::npos) throw std::runtime_error{"pgbench says: " + output};
    return std::stod(output.substr(tps + 6));
}

namespace {

struct Statement {
    std::string label, sql;
};

std::vector<Statement> all_statements(bool with_uuidv7, const std::vector<Peer>& peers) {
    std::vector<Statement> all;
    for (const char* sql :
         {"SELECT 1", "SELECT next_snowflake()", "SELECT next_sno()", "SELECT next_ulid()",
          "SELECT next_uuidv7()", "SELECT nextval('bench_sequence')", "SELECT gen_random_uuid()"})
        all.push_back({sql, sql});
    if (with_uuidv7) all.push_back({"SELECT uuidv7()", "SELECT uuidv7()"});
    for (const Peer& peer : peers) all.push_back({"SELECT " + peer.label, "SELECT " + peer.call});
    return all;
}

std::vector<int> session_counts(const Options& options) {
    if (options.quick) return {1, 2, 64};
    return {1, 2, 4, 8, 16, 32, 64};
}

/// The latency of each statement of `sessions` sessions, in microseconds. pgbench cannot measure
/// it, because it reads its clock once for all replies that have arrived.
std::vector<double> latencies(const std::string& statement, int sessions, int seconds) {
    using Clock = std::chrono::steady_clock;
    std::vector<std::vector<double>> of_sessions(static_cast<size_t>(sessions));
    const auto end = Clock::now() + std::chrono::seconds{seconds};
    test::in_parallel(sessions, [&](int i) {
        pqxx::connection connection;
        connection.prepare("statement", statement);
        pqxx::nontransaction transaction{connection};
        auto& mine = of_sessions[static_cast<size_t>(i)];
        for (auto begin = Clock::now(); begin < end;) {
            (void)transaction.exec_prepared("statement");
            const auto now = Clock::now();
            mine.push_back(std::chrono::duration<double, std::micro>(now - begin).count());
            begin = now;
        }
    });
    std::vector<double> all;
    for (const auto& mine : of_sessions) all.insert(all.end(), mine.begin(), mine.end());
    return all;
}

/// The share of the default layout's 4096 IDs per millisecond that `sessions` sessions together
/// draw during one second.
double saturation(int sessions) {
    constexpr double capacity_per_second = 4'096'000;
    pqxx::connection setup;
    const auto window = run(setup,
                            "SELECT snowflake_boundary(t + interval '500 ms'),"
                            " snowflake_boundary(t + interval '1500 ms')"
                            " FROM (SELECT clock_timestamp() AS t) AS c");
    const std::string from = window[0][0].as<std::string>();
    const std::string to = window[0][1].as<std::string>();
    // Enough IDs to keep all sessions busy until after the window.
    const int ids_each = static_cast<int>(capacity_per_second * 2.5) / sessions;
    std::vector<double> counts(static_cast<size_t>(sessions));
    test::in_parallel(sessions, [&](int i) {
        pqxx::connection connection;
        run(connection, "SET max_parallel_workers_per_gather = 0");
        run(connection, "SET jit = off");
        counts[static_cast<size_t>(i)] =
            number(connection, "SELECT count(*) FILTER (WHERE id >= " + from + " AND id < " + to +
                                   ") FROM (SELECT next_snowflake() AS id FROM (SELECT "
                                   "generate_series(1, " +
                                   std::to_string(ids_each) + ")) AS n OFFSET 0) AS ids");
    });
    double all = 0;
    for (const double count : counts) all += count;
    return all / capacity_per_second;
}

void saturations(Report& report, const Options& options) {
    std::vector<Cells> rows;
    for (const int sessions : {1, 8, 64}) {
        const std::string subject = "next_snowflake() x " + std::to_string(sessions);
        const int rounds = options.rounds(7, 3);
        for (int round = 0; round < rounds; ++round) {
            progress("capacity, " + std::to_string(sessions) + " sessions");
            report.figure(subject, "share of capacity", "1", saturation(sessions));
        }
        const double share = report.of("sessions", subject, "share of capacity");
        rows.push_back({std::to_string(sessions), shown(100 * share, 2) + " %"});
        if (sessions != 8)
            report.at_least("share of the default layout's capacity, " + std::to_string(sessions) +
                                (sessions == 1 ? " session" : " sessions"),
                            0.99, share);
    }
    progress("");
    report.table({"sessions", "share of 4096 IDs per millisecond"}, rows);
}

std::string subject_of(const std::string& statement, int sessions) {
    return statement + " x " + std::to_string(sessions);
}

/// The throughput of 64 sessions, divided by that of 2.
double ratio_of_crowd(const Report& report, const std::string& statement) {
    return report.ratio("sessions", "throughput beside", subject_of(statement, 64),
                        subject_of(statement, 2));
}

/// Compares the throughput of 64 sessions to that of 2: with one ID per statement, and with many,
/// where the generator does most of the work.
void crowd(Report& report, const Options& options) {
    const std::string one = "SELECT next_snowflake()";
    const std::string thousand =
        "SELECT count(next_snowflake('wide')) FROM generate_series(1, 1000)";
    const std::vector<std::string> statements = {"SELECT 1", one, thousand};
    in_turn("2 and 64 sessions", options.rounds(7, 3), statements,
            [&](const std::string& statement) {
                for (const int n : {2, 64})
                    report.figure(subject_of(statement, n), "throughput beside", "1/s",
                                  throughput(statement, n, options.quick ? 1 : 2));
            });
    std::vector<Cells> rows;
    for (const auto& statement : statements)
        rows.push_back(
            {statement,
             shown(report.of("sessions", subject_of(statement, 2), "throughput beside"), 0),
             shown(report.of("sessions", subject_of(statement, 64), "throughput beside"), 0),
             shown(ratio_of_crowd(report, statement), 3)});
    report.table({"statements per second", "x 2", "x 64", "ratio"}, rows);
    const std::string what = "throughput of 64 sessions to 2 sessions, ";
    report.at_least(what + "one ID per statement (SELECT 1: " +
                        shown(ratio_of_crowd(report, "SELECT 1"), 3) + ")",
                    0.9, ratio_of_crowd(report, one));
    report.at_least(what + "1000 IDs per statement", 0.9, ratio_of_crowd(report, thousand));
    report.limitation(
        "Throughput of 64 sessions: if sessions outnumber the cores, most of them wait for a "
        "processor. `SELECT 1` slows down, too.");
}

void chart(Report& report, const std::vector<Statement>& statements, const std::vector<int>& counts,
           const std::string& measure, const std::string& name, const std::string& title,
           const std::string& meaning, const std::string& axis) {
    std::string data;
    for (const int n : counts) {
        data += std::to_string(n);
        for (const auto& [label, sql] : statements)
            data += " " + shown(report.of("sessions", subject_of(label, n), measure), 2);
        data += "\n";
    }
    std::string plot = "plot ";
    size_t lines[2] = {};
    for (size_t i = 0; i < statements.size(); ++i) {
        const std::string& label = statements[i].label;
        const std::string what =
            label == "SELECT 1" ? label : label.substr(std::string_view{"SELECT "}.size());
        const bool ours = is_ours(what);
        plot += (i == 0 ? "" : ", ") + std::string{"$data using 1:"} + std::to_string(i + 2) + " " +
                line_style(ours, lines[ours]++) + " title \"" + what + "\"";
    }
    report.chart(name, title, meaning, 520,
                 "set key bmargin center horizontal font ',11'\nset bmargin 9\nset lmargin 9\n"
                 "set logscale x 2\nset xrange [0.95:67]\n"
                 "set xtics (1,2,4,8,16,32,64)\nset xlabel 'sessions'\n" +
                     axis + "\n$data << E\n" + data + "E\n" + plot + "\n");
}

}  // namespace

void sessions(Report& report, const Options& options) {
    report.begin("sessions", "Many sessions");
    pqxx::connection connection;
    const auto statements = all_statements(has_uuidv7(connection), options.peers);
    const std::vector<int> counts = session_counts(options);
    const int seconds = options.quick ? 1 : 2;
    for (const int n : counts)
        in_turn(std::to_string(n) + " sessions", options.rounds(3, 1), statements,
                [&](const Statement& statement) {
                    const std::string subject = subject_of(statement.label, n);
                    report.figure(subject, "throughput", "1/s",
                                  throughput(statement.sql, n, seconds));
                    const std::vector<double> us = latencies(statement.sql, n, seconds);
                    report.figure(subject, "p50", "us", percentile(us, 0.5));
                    report.figure(subject, "p99", "us", percentile(us, 0.99));
                });

    for (const auto& [measure, unit, digits] :
         {std::tuple{"throughput", "statements per second", 0}, std::tuple{"p50", "median, us", 0},
          std::tuple{"p99", "99th percentile, us", 0}}) {
        Cells header{unit};
        for (const int n : counts) header.push_back("x " + std::to_string(n));
        std::vector<Cells> rows;
        for (const auto& [label, sql] : statements) {
            Cells row{label};
            for (const int n : counts)
                row.push_back(shown(report.of("sessions", subject_of(label, n), measure), digits));
            rows.push_back(row);
        }
        report.table(header, rows);
    }
    report.note(
        "\"x 8\" stands for 8 sessions. `pgbench -n -M prepared -j 2` measures the throughput. "
        "libpqxx clients, one thread each, measure the latencies. Clients and server share the "
        "machine.");
    saturations(report, options);
    crowd(report, options);
    const double p99 = report.ratio("sessions", "p99", subject_of("SELECT next_snowflake()", 64),
                                    subject_of("SELECT 1", 64));
    report.at_most("p99 of SELECT next_snowflake() to SELECT 1, 64 sessions", 1.5, p99);
    chart(report, statements, counts, "throughput", "throughput",
          "Throughput, statements per second",
          "Each statement draws one ID, except `SELECT 1`, which shows what any statement costs. "
          "If there are more sessions than cores, they wait for a processor, with or without an "
          "ID. With 64 sessions, the throughput is " +
              shown(ratio_of_crowd(report, "SELECT next_snowflake()"), 2) +
              " times that of 2 sessions for `SELECT next_snowflake()`, and " +
              shown(ratio_of_crowd(report, "SELECT 1"), 2) +
              " times for `SELECT 1`. With one session, client and server take turns; if their "
              "processors sleep in between, every statement is slow. Each point is the median "
              "of a few runs, so the difference between lines that cross may be noise.",
          "set yrange [0:*]");
    chart(report, statements, counts, "p99", "latency", "Latency, 99th percentile, microseconds",
          "99 of 100 statements take no longer than this; the axis is logarithmic. With more "
          "sessions than cores, most of this time is spent waiting for a processor, as it is "
          "for `SELECT 1`. With 64 sessions, the figure of `SELECT next_snowflake()` is " +
              shown(p99, 2) +
              " times that of `SELECT 1`. A ratio of at most 1 means that drawing an ID adds "
              "nothing that exceeds the noise.",
          "set logscale y");
}

}  // namespace snowdrift::bench
