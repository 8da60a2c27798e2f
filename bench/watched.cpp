// Watched tables: what a watch costs those who insert rows, and what snowdrift.read_new() costs
// beside idle connections.
#include <chrono>
#include <memory>

#include "bench.hpp"

namespace snowdrift::bench {
namespace {

// ---- writers

/// A table into which rows are inserted.
struct Watched {
    std::string label, table, key;
    std::string watch;     ///< the statement that watches the table; empty if it is not watched
    std::string database;  ///< empty for that of the extension
};

constexpr const char* plain_identity = "identity";
constexpr const char* plain_snowflake = "next_snowflake()";
constexpr const char* plain_edition = "SQL edition's next_snowflake()";

std::string with_watch(const std::string& label) { return label + ", watched"; }

std::vector<Watched> watched_tables() {
    std::vector<Watched> all;
    const auto add = [&](const std::string& label, const std::string& key,
                         const std::string& database) {
        const std::string table = "bench_written_" + std::to_string(all.size());
        all.push_back({label, table, key, "", database});
        all.push_back({with_watch(label), table + "_watched", key,
                       "SELECT snowdrift.watch('" + table + "_watched')", database});
    };
    add(plain_identity, "bigint GENERATED ALWAYS AS IDENTITY", "");
    add(plain_snowflake, "bigint DEFAULT next_snowflake()", "");
    add(plain_edition, "bigint DEFAULT next_snowflake()", sql_edition_database);
    return all;
}

void create(pqxx::connection& session, const Watched& subject) {
    run(session, "DROP TABLE IF EXISTS " + subject.table + "; CREATE TABLE " + subject.table +
                     " (id " + subject.key + " PRIMARY KEY, value int); " + subject.watch);
}

std::string measure_of(int clients) { return "INSERT x " + std::to_string(clients); }

void show_writers(Report& report, const std::vector<Watched>& all,
                  const std::vector<std::string>& measures) {
    Cells header{"thousand rows per second"};
    for (const std::string& measure : measures) {
        header.push_back(measure);
        header.push_back("ratio");
    }
    std::vector<Cells> rows;
    for (const Watched& subject : all) {
        Cells row{subject.label};
        for (const std::string& measure : measures) {
            row.push_back(shown(report.of("watched", subject.label, measure), 1));
            row.push_back(
                shown(report.ratio("watched", measure, subject.label, plain_identity), 2));
        }
        rows.push_back(row);
    }
    report.table(header, rows);
}

constexpr const char* bulk = "10,000 rows per INSERT";

void writers(Report& report, const Options& options, pqxx::connection& library,
             pqxx::connection& edition) {
    const auto all = watched_tables();
    const auto session_of = [&](const Watched& subject) -> pqxx::connection& {
        return subject.database.empty() ? library : edition;
    };
    for (const Watched& subject : all) create(session_of(subject), subject);

    std::vector<std::string> measures;
    for (const int clients : {1, 8, 32}) {
        measures.push_back(measure_of(clients));
        in_turn(measures.back(), options.rounds(5, 3), all, [&](const Watched& subject) {
            run(session_of(subject), "TRUNCATE " + subject.table);
            const double per_second =
                throughput("INSERT INTO " + subject.table + " (value) VALUES (1)", clients,
                           options.quick ? 2 : 3, subject.database);
            report.figure(subject.label, measures.back(), "1000/s", per_second / 1000);
        });
    }

    constexpr int statements = 5;
    constexpr int rows = 10'000;
    measures.emplace_back(bulk);
    in_turn_when_warm(bulk, options.rounds(15, 5), all, [&](const Watched& subject, bool counts) {
        pqxx::connection& session = session_of(subject);
        run(session, "TRUNCATE " + subject.table);
        double ms = 0;
        for (int i = 0; i < statements; ++i)
            ms += ms_of(session, "INSERT INTO " + subject.table +
                                     " (value) SELECT generate_series(1, " + std::to_string(rows) +
                                     ")");
        if (counts) report.figure(subject.label, bulk, "1000/s", statements * rows / ms);
    });
    for (const Watched& subject : all) run(session_of(subject), "DROP TABLE " + subject.table);

    show_writers(report, all, measures);
    report.note(
        "\"x 8\" stands for 8 sessions of `pgbench -n -M prepared -j 2`, which share the machine "
        "with the server, and insert one row per transaction. One session inserts 10,000 rows per "
        "statement. Ratios are to " +
        std::string{plain_identity} +
        ", a table that is not watched. In both editions, the same triggers watch an identity "
        "column.");
}

// ---- readers

/// A query for new rows after the ID $1, at most 100.
struct Query {
    std::string label, table, statement;
};

const std::string read_identity = "read_new(), identity";
const std::string read_snowflake = "read_new(), next_snowflake()";

std::vector<Query> queries() {
    const auto read_new = [](const std::string& table) {
        return "SELECT * FROM snowdrift.read_new(NULL::" + table + ", $1, 100)";
    };
    const std::string identity = "bench_read_identity";
    const std::string snowflake = "bench_read_snowflake";
    return {
        {"id > $1, without a watermark", identity,
         "SELECT * FROM " + identity + " WHERE id > $1::bigint ORDER BY id LIMIT 100"},
        {read_identity, identity, read_new(identity)},
        {"id > $1 AND id < snowflake_watermark()", snowflake,
         "SELECT * FROM " + snowflake +
             " WHERE id > $1::bigint AND id < snowflake_watermark() ORDER BY id LIMIT 100"},
        {read_snowflake, snowflake, read_new(snowflake)},
    };
}

constexpr int stored_rows = 100'000;

void create_read_table(pqxx::connection& session, const std::string& table,
                       const std::string& key) {
    create(session, {"", table, key, "SELECT snowdrift.watch('" + table + "')", ""});
    run(session, "INSERT INTO " + table + " (value) SELECT generate_series(1, " +
                     std::to_string(stored_rows) + ")");
    run(session, "VACUUM ANALYZE " + table);
    while (number(session, "SELECT count(*) FROM snowdrift.read_new(NULL::" + table +
                               ", max => NULL)") < stored_rows) {
    }
}

/// The position after which a query finds this number of rows.
std::string position_before(pqxx::connection& session, const Query& query, int rows) {
    return text(session, "SELECT id FROM " + query.table + " ORDER BY id DESC LIMIT 1 OFFSET " +
                             std::to_string(rows));
}

/// Microseconds per prepared statement of the client, each in a transaction of its own.
double us_per_query(pqxx::connection& session, const Query& query, const std::string& position,
                    int rows) {
    constexpr int statements = 100;
    pqxx::nontransaction transaction{session};
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < statements; ++i)
        if (static_cast<int>(transaction.exec_prepared(query.label, position).size()) != rows)
            throw std::runtime_error{query.label + " does not find " + std::to_string(rows) +
                                     " rows"};
    const std::chrono::duration<double, std::micro> elapsed =
        std::chrono::steady_clock::now() - begin;
    return elapsed.count() / statements;
}

std::string reading(int rows, size_t connections) {
    return (rows == 0 ? "nothing new" : std::to_string(rows) + " rows") + " x " +
           std::to_string(connections);
}

void readers(Report& report, const Options& options, pqxx::connection& session) {
    constexpr size_t counts[] = {1, 100, 1000};  // of connections: see tools/bench.sh
    constexpr int pages[] = {0, 100};
    raise_file_limit();
    create(session, {"", "bench_idle", "bigint GENERATED ALWAYS AS IDENTITY",
                     "SELECT snowdrift.watch('bench_idle')", ""});
    create_read_table(session, "bench_read_identity", "bigint GENERATED ALWAYS AS IDENTITY");
    create_read_table(session, "bench_read_snowflake", "bigint DEFAULT next_snowflake()");
    const auto all = queries();
    for (const Query& query : all) session.prepare(query.label, query.statement);

    std::vector<std::unique_ptr<pqxx::connection>> others;
    for (const size_t count : counts) {
        progress(std::to_string(count) + " connections");
        while (others.size() + 1 < count) {
            others.push_back(std::make_unique<pqxx::connection>());
            run(*others.back(), "INSERT INTO bench_idle (value) VALUES (1)");
        }
        for (const int rows : pages)
            in_turn_when_warm(reading(rows, count), options.rounds(15, 5), all,
                              [&](const Query& query, bool counted) {
                                  const double us = us_per_query(
                                      session, query, position_before(session, query, rows), rows);
                                  if (counted)
                                      report.figure(query.label, reading(rows, count), "us", us);
                              });
    }
    others.clear();
    run(session, "DROP TABLE bench_idle, bench_read_identity, bench_read_snowflake");

    Cells header{"us per query"};
    for (const int rows : pages)
        for (const size_t count : counts)
            header.push_back((rows == 0 ? "nothing new, " : std::to_string(rows) + " rows, ") +
                             std::to_string(count) + (count == 1 ? " connection" : " connections"));
    std::vector<Cells> lines;
    for (const Query& query : all) {
        lines.push_back({query.label});
        for (const int rows : pages)
            for (const size_t count : counts)
                lines.back().push_back(
                    shown(report.of("watched", query.label, reading(rows, count)), 0));
    }
    report.table(header, lines);
    report.note(
        "One client runs prepared statements, each in a transaction of its own. The table has " +
        std::to_string(stored_rows) +
        " rows and is watched. The other connections have inserted a row into a watched table, and "
        "are idle. While others insert, the first query misses rows.");
}

}  // namespace

void watched(Report& report, const Options& options) {
    report.begin("watched", "Watched tables");
    pqxx::connection library;
    pqxx::connection edition{std::string{"dbname="} + sql_edition_database};
    for (pqxx::connection* const session : {&library, &edition})
        run(*session, "SET jit = off; SET client_min_messages = warning");
    writers(report, options, library, edition);
    readers(report, options, library);

    const auto ratio = [&](const std::string& label, const std::string& measure) {
        return shown(report.ratio("watched", measure, with_watch(label), label), 2);
    };
    const auto ratios = [&](const std::string& label) {
        return ratio(label, measure_of(1)) + " times as many rows with 1 session, " +
               ratio(label, measure_of(8)) + " times with 8, " + ratio(label, measure_of(32)) +
               " times with 32, and " + ratio(label, bulk) +
               " times with statements of 10,000 rows";
    };
    const auto us = [&](const std::string& query, int rows, size_t connections) {
        return shown(report.of("watched", query, reading(rows, connections)), 0);
    };
    report.meaning("Compared with the same table without a watch, sessions insert " +
                   ratios(plain_identity) + " into a watched table with an identity key. With `" +
                   plain_snowflake + "` of the extension, they insert " + ratios(plain_snowflake) +
                   "; with the SQL edition's, " + ratios(plain_edition) +
                   ". If there is nothing new, `read_new()` takes " + us(read_identity, 0, 100) +
                   " µs for an identity key beside 100 idle connections, and " +
                   us(read_identity, 0, 1000) + " µs beside 1000; for `" + plain_snowflake + "`, " +
                   us(read_snowflake, 0, 100) + " and " + us(read_snowflake, 0, 1000) + " µs.");
}

}  // namespace snowdrift::bench
