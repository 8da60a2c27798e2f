// What one does with IDs that are there: text and binary forms, COPY, sorting, indexes, lookups.
#include "bench.hpp"

namespace snowdrift::bench {
namespace {

const Cells type_names = {"uuid", "ulid", "sno", "bigint"};

struct Task {
    std::string label;
    std::string before;  ///< not measured
    std::string statement;
};

/// % is the type, which is the column's name too.
std::vector<Task> tasks(const std::string& file) {
    const auto copy_out = [&](const char* format) {
        return "COPY (SELECT % FROM bench_values) TO '" + file + "' (FORMAT " + format + ")";
    };
    const auto copy_in = [&](const char* format) {
        return "COPY bench_copy_% FROM '" + file + "' (FORMAT " + format + ")";
    };
    return {
        {"output of text", "", "SELECT count(%::text) FROM bench_values"},
        {"input of text", "", "SELECT count(%::%) FROM bench_texts"},
        {"COPY out, text", "", copy_out("text")},
        {"COPY in, text", "TRUNCATE bench_copy_%; " + copy_out("text"), copy_in("text")},
        {"COPY out, binary", "", copy_out("binary")},
        {"COPY in, binary", "TRUNCATE bench_copy_%; " + copy_out("binary"), copy_in("binary")},
        {"ORDER BY", "", "SELECT % FROM bench_values ORDER BY % OFFSET 100000000"},
        {"CREATE INDEX", "DROP INDEX IF EXISTS bench_index_%",
         "CREATE INDEX bench_index_% ON bench_values (%)"},
        {"point lookups", "",
         "SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_seqscan = off;"
         " SELECT count(v.%) FROM bench_probes AS p JOIN bench_values AS v USING (%)"},
        {"hash join", "",
         "RESET enable_hashjoin; SET enable_nestloop = off; SET enable_mergejoin = off;"
         " SET enable_seqscan = on; SET enable_indexscan = off; SET enable_indexonlyscan = off;"
         " SELECT count(*) FROM bench_values AS a JOIN bench_values AS b USING (%);"
         " RESET enable_nestloop; RESET enable_mergejoin; RESET enable_indexscan;"
         " RESET enable_indexonlyscan; RESET enable_seqscan"},
    };
}

/// Random values of all the types, which sort alike where they can: 10 and 8 bytes of the uuid's.
void make_values(pqxx::connection& connection, int count) {
    run(connection, R"(
        SET max_parallel_workers_per_gather = 0; SET max_parallel_maintenance_workers = 0;
        SET work_mem = '512MB'; SET maintenance_work_mem = '512MB'; SET jit = off;
        CREATE UNLOGGED TABLE bench_values AS
            SELECT u AS uuid, u::ulid AS ulid, substr(uuid_send(u), 1, 10)::sno AS sno,
                   ('x' || left(replace(u::text, '-', ''), 16))::bit(64)::bigint AS bigint
            FROM (SELECT gen_random_uuid() AS u FROM generate_series(1, )" +
                        std::to_string(count) + R"()) AS n;
        CREATE UNLOGGED TABLE bench_texts AS
            SELECT uuid::text, ulid::text, sno::text, bigint::text FROM bench_values;
        CREATE UNLOGGED TABLE bench_probes AS
            SELECT * FROM bench_values ORDER BY random() LIMIT )" +
                        std::to_string(count / 4));
    for (const auto& type : type_names)
        run(connection, filled("CREATE UNLOGGED TABLE bench_copy_% (% %)", type));
    run(connection, "ANALYZE bench_values; ANALYZE bench_texts; ANALYZE bench_probes");
}

}  // namespace

void types(Report& report, const Options& options) {
    const int count = options.quick ? 100'000 : 2'000'000;
    const int rounds = options.rounds(5, 3);
    report.begin("types", "Types: " + std::to_string(count) + " random values");
    pqxx::connection connection;
    progress("values of all types");
    make_values(connection, count);
    const auto all =
        tasks(text(connection, "SELECT current_setting('data_directory')") + "/bench.copy");
    for (const auto& [label, before, statement] : all)
        for (int round = 0; round <= rounds; ++round) {
            progress(label + ", round " + std::to_string(round) + " of " + std::to_string(rounds));
            for (const auto& type : type_names) {
                if (!before.empty()) run(connection, filled(before, type));
                const double ms = ms_of(connection, filled(statement, type));
                if (round > 0) report.figure(type, label, "ms", ms);  // the first round warms up
            }
        }
    progress("");

    std::vector<Cells> rows;
    for (const auto& task : all) {
        Cells row{task.label};
        for (const auto& type : type_names)
            row.push_back(shown(report.of("types", type, task.label), 0));
        for (const char* type : {"ulid", "sno"})
            row.push_back(shown(report.ratio("types", task.label, type, "uuid"), 2));
        rows.push_back(row);
    }
    report.table({"milliseconds", "uuid", "ulid", "sno", "bigint", "ulid to uuid", "sno to uuid"},
                 rows);
    report.note("Point lookups are of every fourth value, in random order, through the index.");
    for (const char* type : {"ulid", "sno"})
        for (const char* task :
             {"COPY out, text", "COPY in, text", "COPY out, binary", "COPY in, binary"})
            report.at_most(std::string{task} + ", time of " + type + " to uuid's", 1.0,
                           report.ratio("types", task, type, "uuid"));
    for (const auto& type : type_names) run(connection, filled("DROP TABLE bench_copy_%", type));
    run(connection, "DROP TABLE bench_values, bench_texts, bench_probes");
}

}  // namespace snowdrift::bench
