// Queries for one hour out of a year of rows: by the timestamp in the ID, and by a column
// created_at with its own index.
#include "bench.hpp"

namespace snowdrift::bench {
namespace {

struct Candidate {
    std::string label, table, columns, id, condition;
};

/// In the conditions, h is the beginning of the hour.
const std::vector<Candidate> candidates = {
    {"created_at", "bench_by_column", "id bigint PRIMARY KEY, created_at timestamptz",
     "make_snowflake(t, 0, 0, n % 4096), t",
     "created_at >= h AND created_at < h + interval '1 hour'"},
    {"Snowflake", "bench_by_snowflake", "id bigint PRIMARY KEY",
     "make_snowflake(t, 0, 0, n % 4096)",
     "snowflake_within(id, tstzrange(h, h + interval '1 hour'))"},
    {"sno", "bench_by_sno", "id sno PRIMARY KEY", "make_sno(t, 0, 0, n % 65536)",
     "sno_within(id, tstzrange(h, h + interval '1 hour'))"},
    {"ulid", "bench_by_ulid", "id ulid PRIMARY KEY", "ulid_at(t)",
     "ulid_within(id, tstzrange(h, h + interval '1 hour'))"},
    {"UUID version 7", "bench_by_uuid", "id uuid PRIMARY KEY", "uuidv7_at(t)",
     "uuidv7_within(id, tstzrange(h, h + interval '1 hour'))"},
};

constexpr int hours = 1000;  // queries per measurement

void make_table(pqxx::connection& connection, const Candidate& candidate, int rows) {
    const bool with_created_at = candidate.label == "created_at";
    run(connection,
        "CREATE TABLE " + candidate.table + " (" + candidate.columns +
            ", value int); INSERT INTO " + candidate.table + " SELECT " + candidate.id +
            ", n FROM (SELECT n, timestamptz '2025-01-01Z' + n * interval '365 days' / " +
            std::to_string(rows) + " AS t FROM generate_series(0, " + std::to_string(rows - 1) +
            ") AS n) AS times");
    if (with_created_at) run(connection, "CREATE INDEX ON " + candidate.table + " (created_at)");
    run(connection, "VACUUM ANALYZE " + candidate.table);
}

/// Microseconds per query for one hour.
double us_per_query(pqxx::connection& connection, const Candidate& candidate) {
    return ms_of(connection,
                 "DO $$DECLARE h timestamptz; BEGIN FOR i IN 1 .. " + std::to_string(hours) +
                     " LOOP h := timestamptz '2025-01-01Z' + (i * 37 % 8700) * interval '1 hour'; "
                     "PERFORM sum(value) FROM " +
                     candidate.table + " WHERE " + candidate.condition + "; END LOOP; END$$") *
           1000 / hours;
}

}  // namespace

void time_range(Report& report, const Options& options) {
    const int rows = options.quick ? 200'000 : 5'000'000;
    report.begin("time_range", "One hour of a year, among " + std::to_string(rows) + " rows");
    pqxx::connection connection;
    run(connection,
        "SET max_parallel_workers_per_gather = 0; SET jit = off;"
        " SET client_min_messages = warning");
    for (const auto& candidate : candidates) {
        progress(candidate.label);
        make_table(connection, candidate, rows);
        report.figure(
            candidate.label, "table and indexes", "MB",
            number(connection, "SELECT pg_total_relation_size('" + candidate.table + "') / 1e6"));
    }
    in_turn_when_warm("one hour of a year", options.rounds(11, 3), candidates,
                      [&](const Candidate& candidate, bool counts) {
                          const double us = us_per_query(connection, candidate);
                          if (counts) report.figure(candidate.label, "query", "us", us);
                      });
    for (const auto& candidate : candidates) run(connection, "DROP TABLE " + candidate.table);
    std::vector<Cells> rows_shown;
    for (const auto& candidate : candidates)
        rows_shown.push_back(
            {candidate.label, shown(report.of("time_range", candidate.label, "query"), 0),
             shown(report.ratio("time_range", "query", candidate.label, "created_at"), 2),
             shown(report.of("time_range", candidate.label, "table and indexes"), 0)});
    const auto ratio = [&](const char* measure, const char* subject) {
        return shown(report.ratio("time_range", measure, subject, "created_at"), 2);
    };
    report.meaning(
        "A query by the time in the primary key needs no other index. Compared with an index on a "
        "column `created_at`, it takes " +
        ratio("query", "Snowflake") + " times as long for Snowflakes and " +
        ratio("query", "UUID version 7") +
        " times for UUIDs of version 7. The table and its indexes take " +
        ratio("table and indexes", "Snowflake") + " times and " +
        ratio("table and indexes", "UUID version 7") + " times the space.");
    report.table({"by", "us per query", "ratio to created_at", "table and indexes, MB"},
                 rows_shown);
    report.note(
        "The table with `created_at` has an index on that column and a Snowflake primary key. The "
        "other tables have only the primary key.");
}

}  // namespace snowdrift::bench
