// The benchmark of a live server (the one that PGHOST names): what an ID costs above a function
// that does nothing, and how much of the format's capacity sessions get.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "integration/sessions.hpp"

namespace {

using snowdrift::test::in_parallel;
using snowdrift::test::run;

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

struct Candidate {
    std::string label;
    std::string function;                ///< as regprocedure reads it
    std::string argument = "NULL::int";  ///< where the function takes one
};

/// Nanoseconds per call, the calls made in one go inside the server.
double ns_per_call(pqxx::connection& connection, const Candidate& candidate) {
    return run(connection, "SELECT bench_ns_per_call('" + candidate.function +
                               "'::regprocedure, 500000, true, " + candidate.argument + ")")[0][0]
        .as<double>();
}

void cost_per_call(int rounds) {
    const std::vector<Candidate> candidates = {
        {"no-op C function", "bench_noop()"},
        {"clock", "bench_clock()"},
        {"clock and one atomic", "bench_clock_and_atomic()"},
        {"next_snowflake()", "next_snowflake()"},
        {"next_snowflake('wide')", "next_snowflake(text)", "'wide'::text"},
        {"next_sno()", "next_sno(int)", "0"},
        {"next_ulid(), one transaction", "next_ulid()"},
        {"gen_ulid()", "gen_ulid()"},
        {"nextval, CACHE 1", "nextval(regclass)", "'bench_sequence'::regclass"},
        {"nextval, CACHE 100", "nextval(regclass)", "'bench_sequence_cached'::regclass"},
        {"gen_random_uuid()", "gen_random_uuid()"},
    };
    pqxx::connection connection;
    // Alternating, so that a machine whose speed drifts drifts for all; costs are pairwise.
    std::map<std::string, std::vector<double>> cost;
    for (int round = 0; round <= rounds; ++round) {
        const double noop = ns_per_call(connection, candidates[0]);
        for (const auto& candidate : candidates) {
            const double ns = ns_per_call(connection, candidate) - noop;
            if (round > 0) cost[candidate.label].push_back(ns);  // the first round warms up
        }
    }
    const double limit = median(cost["clock and one atomic"]);
    std::printf("%-34s %14s %24s\n", "one session", "ns above no-op", "ratio to clock + atomic");
    for (const auto& candidate : candidates) {
        const double ns = median(cost[candidate.label]);
        std::printf("%-34s %14.1f %24.2f\n", candidate.label.c_str(), ns, ns / limit);
    }
}

/// The share of the classic layout's 4096 IDs a millisecond that `sessions` sessions get together
/// during one second.
double saturation(int sessions) {
    constexpr double capacity_per_second = 4'096'000;
    pqxx::connection setup;
    const auto window = run(setup,
                            "SELECT snowflake_boundary(t + interval '500 ms'),"
                            " snowflake_boundary(t + interval '1500 ms')"
                            " FROM (SELECT clock_timestamp() AS t) AS c");
    const std::string from = window[0][0].as<std::string>();
    const std::string to = window[0][1].as<std::string>();
    // Enough for all to be busy until after the window.
    const int ids_each = static_cast<int>(capacity_per_second * 2.5) / sessions;
    std::vector<double> counts(static_cast<size_t>(sessions));
    in_parallel(sessions, [&](int i) {
        pqxx::connection connection;
        run(connection, "SET max_parallel_workers_per_gather = 0");
        run(connection, "SET jit = off");
        const auto result =
            run(connection,
                "SELECT count(*) FILTER (WHERE id >= " + from + " AND id < " + to +
                    ") FROM (SELECT next_snowflake() AS id FROM (SELECT generate_series(1, " +
                    std::to_string(ids_each) + ")) AS n OFFSET 0) AS ids");
        counts[static_cast<size_t>(i)] = result[0][0].as<double>();
    });
    double all = 0;
    for (const double count : counts) all += count;
    return all / capacity_per_second;
}

void saturations(int rounds) {
    std::printf("\n%-30s %14s\n", "of 4096 IDs a millisecond", "share");
    for (const int sessions : {1, 8, 64}) {
        std::vector<double> shares;
        for (int round = 0; round < rounds; ++round) shares.push_back(saturation(sessions));
        std::printf("%-2d session%-20s %13.2f%%\n", sessions, sessions == 1 ? "" : "s",
                    100 * median(shares));
    }
}

/// Milliseconds that `statement` takes.
double ms_of(pqxx::connection& connection, const std::string& statement) {
    const auto begin = std::chrono::steady_clock::now();
    run(connection, statement);
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - begin;
    return elapsed.count();
}

/// `task` with the type's name, which is the column's too, for each %.
std::string statement_for(std::string task, const std::string& type) {
    for (size_t at = task.find('%'); at != std::string::npos; at = task.find('%'))
        task.replace(at, 1, type);
    return task;
}

/// What is done with 2,000,000 random values of each type, beside the same with uuid.
void types(int rounds) {
    pqxx::connection connection;
    run(connection, R"(
        SET max_parallel_workers_per_gather = 0; SET max_parallel_maintenance_workers = 0;
        SET work_mem = '512MB'; SET maintenance_work_mem = '512MB'; SET jit = off;
        CREATE UNLOGGED TABLE bench_values AS
            SELECT gen_random_uuid() AS uuid, gen_random_uuid()::ulid AS ulid
            FROM generate_series(1, 2000000);
        CREATE UNLOGGED TABLE bench_texts AS
            SELECT uuid::text AS uuid, ulid::text AS ulid FROM bench_values;
        ANALYZE bench_values; ANALYZE bench_texts)");
    const std::vector<std::pair<std::string, std::string>> tasks = {
        {"text output", "SELECT count(%::text) FROM bench_values"},
        {"text input", "SELECT count(%::%) FROM bench_texts"},
        {"COPY, text", "COPY (SELECT % FROM bench_values) TO '/dev/null'"},
        {"COPY, binary", "COPY (SELECT % FROM bench_values) TO '/dev/null' (FORMAT binary)"},
        {"ORDER BY", "SELECT % FROM bench_values ORDER BY % OFFSET 2000000"},
        {"CREATE INDEX", "CREATE INDEX ON bench_values (%)"},
    };
    std::printf("\n%-30s %10s %10s %10s\n", "2,000,000 random values", "uuid ms", "ulid ms",
                "ratio");
    for (const auto& [label, task] : tasks) {
        std::vector<double> uuid_ms;
        std::vector<double> ulid_ms;
        std::vector<double> ratios;
        for (int round = 0; round <= rounds; ++round) {
            const double uuid = ms_of(connection, statement_for(task, "uuid"));
            const double ulid = ms_of(connection, statement_for(task, "ulid"));
            if (round == 0) continue;
            uuid_ms.push_back(uuid);
            ulid_ms.push_back(ulid);
            ratios.push_back(ulid / uuid);
        }
        std::printf("%-30s %10.0f %10.0f %10.2f\n", label.c_str(), median(uuid_ms), median(ulid_ms),
                    median(ratios));
    }
    run(connection, "DROP TABLE bench_values, bench_texts");
}

}  // namespace

int main(int argc, char** argv) {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    const bool quick = argc > 1 && std::string{argv[1]} == "--quick";
    pqxx::connection connection;
    std::printf("%s\n\n", run(connection, "SELECT version()")[0][0].c_str());
    cost_per_call(quick ? 5 : 15);
    saturations(quick ? 3 : 5);
    types(quick ? 3 : 5);
}
