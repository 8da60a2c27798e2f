// Operations on stored IDs: text and binary forms, COPY, sorting, indexes, lookups.
#include "bench.hpp"

namespace snowdrift::bench {
namespace {

const Cells type_names = {"uuid", "ulid", "sno", "bigint"};

struct Task {
    std::string label;
    std::string before;  ///< statements to run first, not measured
    std::string statement;
};

/// Returns settings that leave the planner one kind of join and one kind of scan.
std::string only(const char* join, const char* scan) {
    std::string settings;
    for (const char* kind : {"enable_nestloop", "enable_hashjoin", "enable_mergejoin",
                             "enable_seqscan", "enable_indexscan", "enable_indexonlyscan"})
        settings += std::string{"SET "} + kind + " = off; ";
    return settings + "SET " + join + " = on; SET " + scan + " = on";
}

/// The tasks. % stands for the type, which is also the column's name. Each type has its own table,
/// because a column after others takes longer to read.
std::vector<Task> tasks(const std::string& file) {
    const auto copy_out = [&](const char* format) {
        return "COPY bench_% TO '" + file + "' (FORMAT " + format + ")";
    };
    const auto copy_in = [&](const char* format) {
        return "COPY bench_copy_% FROM '" + file + "' (FORMAT " + format + ")";
    };
    return {
        {"output of text", "", "SELECT count(%::text) FROM bench_%"},
        {"input of text", "", "SELECT count(%::%) FROM bench_texts"},
        {"COPY out, text", "", copy_out("text")},
        {"COPY in, text", "TRUNCATE bench_copy_%; " + copy_out("text"), copy_in("text")},
        {"COPY out, binary", "", copy_out("binary")},
        {"COPY in, binary", "TRUNCATE bench_copy_%; " + copy_out("binary"), copy_in("binary")},
        {"ORDER BY", "", "SELECT % FROM bench_% ORDER BY % OFFSET 100000000"},
        {"CREATE INDEX", "DROP INDEX IF EXISTS bench_index_%",
         "CREATE INDEX bench_index_% ON bench_% (%)"},
        {"point lookups", only("enable_nestloop", "enable_indexscan"),
         "SELECT count(v.%) FROM bench_probes AS p JOIN bench_% AS v USING (%)"},
        {"hash join", only("enable_hashjoin", "enable_seqscan"),
         "SELECT count(*) FROM bench_% AS a JOIN bench_% AS b USING (%)"},
        {"merge join", only("enable_mergejoin", "enable_indexonlyscan"),
         "SELECT count(*) FROM bench_% AS a JOIN bench_% AS b USING (%)"},
    };
}

/// Creates tables of random values of all types. A sno has the first 10 bytes of the uuid, a bigint
/// the first 8, so that the values of all types have almost the same order.
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
        run(connection, filled("CREATE UNLOGGED TABLE bench_% AS SELECT % FROM bench_values;"
                               " CREATE UNLOGGED TABLE bench_copy_% (% %)",
                               type));
    run(connection, "DROP TABLE bench_values");
}

/// Index-only scans need the visibility map.
void vacuum(pqxx::connection& connection) {
    for (const auto& type : type_names) run(connection, filled("VACUUM ANALYZE bench_%", type));
    run(connection, "ANALYZE bench_texts");
    run(connection, "ANALYZE bench_probes");
}

}  // namespace

void types(Report& report, const Options& options) {
    const int count = options.quick ? 100'000 : 2'000'000;
    report.begin("types", "Types: " + std::to_string(count) + " random values");
    pqxx::connection connection;
    progress("values of all types");
    make_values(connection, count);
    vacuum(connection);
    const auto all =
        tasks(text(connection, "SELECT current_setting('data_directory')") + "/bench.copy");
    for (const Task& task : all)
        in_turn_when_warm(task.label, options.rounds(7, 3), type_names,
                          [&](const std::string& type, bool counts) {
                              if (!task.before.empty()) run(connection, filled(task.before, type));
                              const double ms = ms_of(connection, filled(task.statement, type));
                              if (counts) report.figure(type, task.label, "ms", ms);
                          });

    std::vector<Cells> rows;
    for (const auto& task : all) {
        Cells row{task.label};
        for (const auto& type : type_names)
            row.push_back(shown(report.of("types", type, task.label), 0));
        for (const char* type : {"ulid", "sno"})
            row.push_back(shown(report.ratio("types", task.label, type, "uuid"), 2));
        rows.push_back(row);
    }
    const auto ratios = [&](const char* task) {
        return shown(report.ratio("types", task, "ulid", "uuid"), 2) +
               " times as long for ulid and " +
               shown(report.ratio("types", task, "sno", "uuid"), 2) + " times for sno";
    };
    report.meaning("Compared with uuid, reading the text form takes " + ratios("input of text") +
                   ", sorting " + ratios("ORDER BY") + ", and looking up single values " +
                   ratios("point lookups") + ".");
    report.table({"milliseconds", "uuid", "ulid", "sno", "bigint", "ulid to uuid", "sno to uuid"},
                 rows);
    report.note(
        "Point lookups search for a random quarter of the values, in random order, through the "
        "index.");
    for (const char* type : {"ulid", "sno"})
        for (const char* task :
             {"COPY out, text", "COPY in, text", "COPY out, binary", "COPY in, binary"})
            report.at_most(std::string{task} + ", time of " + type + " to uuid", 1.0,
                           report.ratio("types", task, type, "uuid"));
    report.limitation(
        "Binary `COPY`: the functions of all three types copy 10 or 16 bytes. Differences of a few "
        "percent are noise.");
    for (const auto& type : type_names)
        run(connection, filled("DROP TABLE bench_%, bench_copy_%", type));
    run(connection, "DROP TABLE bench_texts, bench_probes");
}

}  // namespace snowdrift::bench
