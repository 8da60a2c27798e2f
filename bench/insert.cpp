// INSERT with an ID as primary key and DEFAULT, into an empty table and into a large one: rows per
// second, WAL, and size of the index.
#include <filesystem>
#include <fstream>

#include "bench.hpp"

namespace snowdrift::bench {

std::vector<KeyedTable> keyed_tables(pqxx::connection& connection, const Options& options) {
    std::vector<KeyedTable> all = {
        {"bigint identity", "by_identity", "bigint GENERATED ALWAYS AS IDENTITY"},
        {"nextval", "by_nextval", "bigint DEFAULT nextval('bench_sequence')"},
        {"next_snowflake()", "by_snowflake", "bigint DEFAULT next_snowflake()"},
        {"next_sno()", "by_sno", "sno DEFAULT next_sno()"},
        {"next_ulid()", "by_ulid", "ulid DEFAULT next_ulid()"},
        {"next_uuidv7()", "by_next_uuidv7", "uuid DEFAULT next_uuidv7()"},
        {"gen_random_uuid()", "by_uuid", "uuid DEFAULT gen_random_uuid()"},
    };
    if (has_uuidv7(connection)) all.push_back({"uuidv7()", "by_uuidv7", "uuid DEFAULT uuidv7()"});
    for (const Peer& peer : options.peers)
        all.push_back({peer.label, "by_peer_" + std::to_string(all.size()),
                       peer.type + " DEFAULT " + peer.call});
    return all;
}

void make_table(pqxx::connection& connection, const KeyedTable& keyed) {
    run(connection, "DROP TABLE IF EXISTS " + keyed.table + "; CREATE TABLE " + keyed.table +
                        " (value int, id " + keyed.column + " PRIMARY KEY)");
}

namespace {

struct Sizes {
    int rows;         ///< inserted per measurement
    int large_table;  ///< rows of the large table before a measurement
    int bulk_rounds, large_bulk_rounds;
};

void fill(pqxx::connection& connection, const KeyedTable& candidate, int rows) {
    run(connection, "INSERT INTO " + candidate.table + " (value) SELECT generate_series(1, " +
                        std::to_string(rows) + ")");
}

/// Measures speed and WAL of `insert`, which inserts `rows` rows.
template <typename Insert>
void measure(Report& report, pqxx::connection& connection, const std::string& label,
             const std::string& how, int rows, Insert insert) {
    run(connection, "CHECKPOINT");
    const std::string before = text(connection, "SELECT pg_current_wal_insert_lsn()");
    const auto begin = std::chrono::steady_clock::now();
    insert();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    report.figure(label, how + ", speed", "rows/s", rows / elapsed.count());
    report.figure(
        label, how + ", WAL", "bytes/row",
        number(connection, "SELECT pg_current_wal_insert_lsn() - '" + before + "'") / rows);
}

void measure_index(Report& report, pqxx::connection& connection, const KeyedTable& candidate,
                   const std::string& how) {
    const std::string index = "'" + candidate.table + "_pkey'";
    report.figure(candidate.label, how + ", index", "bytes/row",
                  number(connection, "SELECT pg_relation_size(" + index +
                                         ")::float8 / count(*) FROM " + candidate.table));
    report.figure(candidate.label, how + ", density", "%",
                  number(connection, "SELECT avg_leaf_density FROM pgstatindex(" + index + ")"));
}

/// Inserts `rows` rows from 8 sessions, one row per transaction.
void insert_one_by_one(const KeyedTable& candidate, int rows) {
    const auto script =
        std::filesystem::temp_directory_path() / ("bench_" + candidate.table + ".sql");
    std::ofstream{script} << "INSERT INTO " << candidate.table << " (value) VALUES (1);\n";
    shell("pgbench -n -M prepared -c 8 -j 2 -f " + script.string() + " -t " +
          std::to_string(rows / 8) + " 2>&1");
    std::filesystem::remove(script);
}

/// Inserts `rows` rows into the table of each candidate, in several rounds.
void measure_one_by_one(Report& report, pqxx::connection& connection,
                        const std::vector<KeyedTable>& all, const std::string& how, int rows) {
    constexpr int rounds = 5;
    in_turn("INSERT, " + how, rounds, all, [&](const KeyedTable& candidate) {
        measure(report, connection, candidate.label, how, rows / rounds,
                [&] { insert_one_by_one(candidate, rows / rounds); });
    });
    for (const auto& candidate : all) measure_index(report, connection, candidate, how);
}

void empty_tables(Report& report, pqxx::connection& connection, const std::vector<KeyedTable>& all,
                  const Sizes& sizes) {
    in_turn_when_warm("bulk INSERT", sizes.bulk_rounds, all,
                      [&](const KeyedTable& candidate, bool counts) {
                          make_table(connection, candidate);
                          const auto insert = [&] { fill(connection, candidate, sizes.rows); };
                          if (!counts) return insert();
                          measure(report, connection, candidate.label, "bulk", sizes.rows, insert);
                          measure_index(report, connection, candidate, "bulk");
                      });
    for (const auto& candidate : all) make_table(connection, candidate);
    measure_one_by_one(report, connection, all, "row by row", sizes.rows);
}

void large_tables(Report& report, pqxx::connection& connection, const std::vector<KeyedTable>& all,
                  const Sizes& sizes) {
    for (const auto& candidate : all) {
        progress("a table of " + std::to_string(sizes.large_table) + " rows, " + candidate.label);
        make_table(connection, candidate);
        fill(connection, candidate, sizes.large_table);
        run(connection, "CHECKPOINT");  // removes its WAL
    }
    in_turn("bulk INSERT into a large table", sizes.large_bulk_rounds, all,
            [&](const KeyedTable& candidate) {
                measure(report, connection, candidate.label, "large, bulk", sizes.rows,
                        [&] { fill(connection, candidate, sizes.rows); });
                measure_index(report, connection, candidate, "large, bulk");
            });
    measure_one_by_one(report, connection, all, "large, row by row", sizes.rows / 4);
    for (const auto& candidate : all) run(connection, "DROP TABLE " + candidate.table);
}

void show(Report& report, const std::vector<KeyedTable>& all, const std::string& how,
          const std::string& title) {
    std::vector<Cells> rows;
    for (const auto& [label, table, column] : all) {
        const auto of = [&, &label = label](const char* measure) {
            return report.of("insert", label, how + ", " + measure);
        };
        rows.push_back({label, shown(of("speed"), 0),
                        shown(report.ratio("insert", how + ", speed", label, "bigint identity"), 2),
                        shown(of("WAL"), 0), shown(of("index"), 1), shown(of("density"), 0)});
    }
    report.table({title, "rows/s", "ratio", "WAL bytes/row", "index bytes/row", "density %"}, rows);
}

void chart(Report& report, const std::vector<KeyedTable>& all, int large_table) {
    std::vector<Bars> bars;
    for (const auto& [label, table, column] : all)
        bars.push_back({label,
                        {report.of("insert", label, "bulk, speed") / 1000,
                         report.of("insert", label, "large, bulk, speed") / 1000},
                        is_ours(label)});
    const auto ratio = [&](const char* subject, const char* base) {
        return shown(report.ratio("insert", "bulk, speed", subject, base), 1);
    };
    const auto wal = [&](const char* subject) {
        return shown(report.of("insert", subject, "large, bulk, WAL"), 0);
    };
    std::string to_others =
        ratio("next_uuidv7()", "gen_random_uuid()") + " times as many as `gen_random_uuid()`";
    if (report.has("insert", "uuidv7()", "bulk, speed"))
        to_others += " and " + ratio("next_uuidv7()", "uuidv7()") + " times as many as `uuidv7()`";
    const std::string present =
        shown(large_table / 1e6, large_table % 1'000'000 == 0 ? 0 : 1) + " million rows";
    report.bars(
        "insert", "Bulk INSERT with the ID as primary key, thousand rows per second",
        "One statement inserts many rows. Into an empty table, `next_snowflake()` inserts " +
            ratio("next_snowflake()", "bigint identity") +
            " times as many rows per second as bigint identity, and `next_uuidv7()` " + to_others +
            ". IDs that ascend are appended to the index; random UUIDs change pages "
            "everywhere in it. In a table of " +
            present + ", a row takes " + wal("next_uuidv7()") +
            " bytes of WAL with `next_uuidv7()`, and " + wal("gen_random_uuid()") +
            " bytes with `gen_random_uuid()`. If each statement inserts only one row, the "
            "kind of ID matters less for the speed: 8 sessions with `next_snowflake()` then "
            "insert " +
            shown(
                report.ratio("insert", "row by row, speed", "next_snowflake()", "bigint identity"),
                2) +
            " times as many rows as with bigint identity.",
        {"into an empty table", "into a table of " + present}, bars, 0);
}

}  // namespace

void insert(Report& report, const Options& options) {
    const Sizes sizes =
        options.quick ? Sizes{80'000, 400'000, 5, 3} : Sizes{1'000'000, 10'000'000, 9, 5};
    pqxx::connection connection;
    run(connection, "SET jit = off");
    const auto all = keyed_tables(connection, options);

    report.begin("insert", "INSERT of " + std::to_string(sizes.rows) + " rows");
    empty_tables(report, connection, all, sizes);
    large_tables(report, connection, all, sizes);
    progress("");

    show(report, all, "bulk", "bulk");
    show(report, all, "row by row", "row by row, 8 sessions");
    const std::string present = "table of " + std::to_string(sizes.large_table) + " rows, ";
    show(report, all, "large, bulk", present + "bulk");
    show(report, all, "large, row by row", present + "row by row");
    report.note(
        "The ID is the primary key; the other column is an integer. Ratios are to bigint "
        "identity. A checkpoint precedes each measurement, so WAL contains an image of each page "
        "at its first change. Row by row, the large table gets a quarter as many rows.");
    chart(report, all, sizes.large_table);

    const auto ratio = [&](const char* subject, const char* base) {
        return report.ratio("insert", "bulk, speed", subject, base);
    };
    report.at_least("bulk INSERT, next_snowflake() to bigint identity", 1.05,
                    ratio("next_snowflake()", "bigint identity"));
    for (const char* ours : {"next_ulid()", "next_sno()", "next_uuidv7()"}) {
        const std::string what = std::string{"bulk INSERT, "} + ours;
        report.at_least(what + " to gen_random_uuid()", 2.5, ratio(ours, "gen_random_uuid()"));
        if (report.has("insert", "uuidv7()", "bulk, speed"))
            report.at_least(what + " to uuidv7()", 1.2, ratio(ours, "uuidv7()"));
    }
}

}  // namespace snowdrift::bench
