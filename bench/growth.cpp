// Growth of an ID's cost with the number of IDs drawn in a transaction, and with the number of
// generators.
#include <algorithm>

#include "bench.hpp"

namespace snowdrift::bench {
namespace {

struct Candidate {
    std::string label, function, argument;
};

const std::vector<Candidate> candidates = {
    {"next_snowflake()", "next_snowflake()", "NULL::int"},
    {"next_snowflake(name)", "next_snowflake(text)", "'wide'::text"},
    {"next_sno()", "next_sno(int)", "0"},
    {"next_ulid()", "next_ulid()", "NULL::int"},
    {"next_uuidv7()", "next_uuidv7()", "NULL::int"},
};

std::string ids_label(long ids) { return "ns each, " + std::to_string(ids) + " IDs"; }

double ns_of(pqxx::connection& connection, const Candidate& candidate, long ids) {
    return number(connection, "SELECT bench_ns_per_call('" + candidate.function +
                                  "'::regprocedure, " + std::to_string(ids) + ", " +
                                  candidate.argument + ")");
}

/// Waits until the clock has caught up with fresh states, which may start ahead of it.
void settle(pqxx::connection& connection) { run(connection, "SELECT pg_sleep(1)"); }

void by_ids(Report& report, const Options& options, pqxx::connection& connection) {
    const long most = options.quick ? 1'000'000 : 100'000'000;
    for (const auto& candidate : candidates) (void)ns_of(connection, candidate, 1);
    settle(connection);
    Cells header{"IDs in one transaction"};
    std::vector<Cells> rows;
    std::string data;
    for (const auto& candidate : candidates) {
        rows.push_back({candidate.label});
        header.resize(1);
        for (long ids = 1000; ids <= most; ids *= 10) {
            progress(candidate.label + ", " + std::to_string(ids) + " IDs in one transaction");
            // Repeat short measurements.
            for (long done = 0; done < std::min(most, 1'000'000L); done += ids)
                report.figure(candidate.label, ids_label(ids), "ns",
                              ns_of(connection, candidate, ids));
            const double ns = report.of("growth", candidate.label, ids_label(ids));
            header.push_back(std::to_string(ids));
            rows.back().push_back(shown(ns, 1));
            data += std::to_string(ids) + " " + shown(ns, 2) + "\n";
        }
        data += "\n\n";
    }
    progress("");
    report.table(header, rows);
    report.note(
        "Nanoseconds per ID, including the call. The formats limit `next_snowflake()` to one ID "
        "per 244 ns, and `next_sno()` to one ID per 61 ns.");
    std::string plot;
    for (size_t i = 0; i < candidates.size(); ++i)
        plot += std::string{i == 0 ? "plot" : ","} + " $data index " + std::to_string(i) +
                " using 1:2 " + line_style(true, i) + " title '" + candidates[i].label + "'";
    report.chart("growth", "Cost of an ID by the number of IDs drawn in one transaction, ns",
                 "A flat line means that an ID costs the same in small and in large transactions. "
                 "A line that rises approaches its format's limit, where the generator waits for "
                 "the clock: `next_snowflake()` has 4096 IDs per millisecond, which is one per "
                 "244 ns, and `next_sno()` has 65536 IDs per 4 ms, one per 61 ns. Generators of "
                 "other layouts have other limits: `next_snowflake(name)`, here with 65536 IDs "
                 "per millisecond, takes " +
                     shown(report.of("growth", "next_snowflake(name)", ids_label(most)), 1) +
                     " ns per ID in a transaction of " + std::to_string(most) + " IDs.",
                 400,
                 "set key bmargin center horizontal\nset bmargin 7\nset logscale xy\n"
                 "set format x '%.0s%c'\nset xrange [1000:*]\nset yrange [1:1000]\n"
                 "set xlabel 'IDs in one transaction'\n$data << E\n" +
                     data + "E\n" + plot + "\n");
}

void by_generators(Report& report, const Options& options, pqxx::connection& connection) {
    run(connection,
        "SELECT snowdrift.create_generator('g' || n, 'snowflake', layout => 'mastodon')"
        " FROM generate_series(1, 128) AS n");
    const auto ns_of_names = [&](int generators, int ids) {
        return number(connection,
                      "SELECT bench_ns_per_name('next_snowflake(text)'::regprocedure, " +
                          std::to_string(ids) + ", array_agg('g' || n)) FROM generate_series(1, " +
                          std::to_string(generators) + ") AS n");
    };
    (void)ns_of_names(128, 128);
    settle(connection);
    for (int round = 0; round <= options.rounds(9, 3); ++round)
        for (int generators = 1; generators <= 128; generators *= 2) {
            progress(std::to_string(generators) + " generators");
            const double ns = ns_of_names(generators, 200'000);
            if (round > 0)
                report.figure(std::to_string(generators) + " generators", "cost", "ns", ns);
        }
    progress("");
    std::vector<Cells> rows;
    for (int generators = 1; generators <= 128; generators *= 2)
        rows.push_back(
            {std::to_string(generators),
             shown(report.of("growth", std::to_string(generators) + " generators", "cost"), 1)});
    report.table({"generators that a session draws from in turn", "ns per ID"}, rows);
    report.note("One call site changes the generator with each call, which is the worst case.");
    run(connection, "SELECT snowdrift.drop_generator('g' || n) FROM generate_series(1, 128) AS n");
}

}  // namespace

void growth(Report& report, const Options& options) {
    report.begin("growth", "Growth");
    pqxx::connection connection;
    by_ids(report, options, connection);
    by_generators(report, options, connection);
}

}  // namespace snowdrift::bench
