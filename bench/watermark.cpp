// The watermark: the cost of reading it beside many connections, and a poller that uses it,
// compared to one that waits for pg_snapshot_xmin().
#include <chrono>
#include <memory>
#include <thread>

#include "bench.hpp"
#include "integration/sessions.hpp"

namespace snowdrift::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Connections = std::vector<std::unique_ptr<pqxx::connection>>;

// ---- the cost of a call

const std::string watermark = "snowflake_watermark()";
const std::string snapshot_xmin = "pg_snapshot_xmin(pg_current_snapshot())";

/// Microseconds per statement that makes the call once, above a function that does nothing. The
/// statements run in a loop inside the server. Each has a value of its own: within a statement,
/// further calls return the same one.
double us_per_statement(pqxx::connection& connection, const std::string& call) {
    constexpr int statements = 5000;
    const auto us_of = [&](const std::string& called) {
        return ms_of(connection, "DO $$BEGIN FOR i IN 1 .. " + std::to_string(statements) +
                                     " LOOP PERFORM " + called + "; END LOOP; END$$") *
               1e3 / statements;
    };
    return us_of(call) - us_of("bench_noop()");
}

std::string beside(const std::string& call, bool is_busy, size_t count) {
    return call + (is_busy ? " with busy x " : " with idle x ") + std::to_string(count);
}

void measure_calls(Report& report, const Options& options, pqxx::connection& connection) {
    constexpr size_t counts[] = {1, 100, 1000};  // of connections: see tools/bench.sh
    run(connection, "DROP TABLE IF EXISTS bench_held; CREATE TABLE bench_held (id bigint)");
    Connections others;
    for (const size_t count : counts) {
        progress(std::to_string(count) + " connections");
        while (others.size() + 1 < count) {
            others.push_back(std::make_unique<pqxx::connection>());
            run(*others.back(), "SELECT next_snowflake()");
        }
        for (const bool is_busy : {false, true}) {
            for (size_t i = 0; is_busy && i < others.size(); i += 2)
                run(*others[i], "BEGIN; INSERT INTO bench_held VALUES (next_snowflake())");
            const std::vector<std::string> calls{watermark, snapshot_xmin};
            in_turn_when_warm(std::to_string(count) + " connections", options.rounds(15, 5), calls,
                              [&](const std::string& call, bool counted) {
                                  const double us = us_per_statement(connection, call);
                                  if (counted)
                                      report.figure(beside(call, is_busy, count), "cost", "us", us);
                              });
            for (size_t i = 0; is_busy && i < others.size(); i += 2) run(*others[i], "COMMIT");
        }
    }
    others.clear();
    run(connection, "DROP TABLE bench_held");

    std::vector<Cells> rows;
    for (const bool is_busy : {false, true})
        for (const std::string& call : {watermark, snapshot_xmin}) {
            rows.push_back({call + (is_busy ? ", half in transactions" : ", idle")});
            for (const size_t count : counts)
                rows.back().push_back(
                    shown(report.of("watermark", beside(call, is_busy, count), "cost"), 2));
        }
    Cells header{"us per statement above no-op"};
    for (const size_t count : counts)
        header.push_back(std::to_string(count) + (count == 1 ? " connection" : " connections"));
    report.table(header, rows);
    report.note(
        "One session calls the function once per statement. The other connections have drawn "
        "IDs. They are idle, or half of them are in a transaction that has drawn an ID and "
        "inserted a row. The server allows " +
        text(connection, "SHOW max_connections") +
        " connections, and the function looks twice at the line that each of them has in shared "
        "memory.");
}

// ---- a poller

/// How new rows are found.
struct Method {
    std::string label, table, columns;
    std::string key;        ///< what a reader stores of the last row, as SQL text
    std::string first_key;  ///< before all rows
    std::string after;      ///< the condition for rows after the key %
    std::string settled;    ///< the condition for rows that all precede later ones
    std::string order;
};

const std::vector<Method> methods = {
    {watermark, "bench_feed", "id bigint PRIMARY KEY DEFAULT next_snowflake()", "id::text", "0",
     "id > %", "id < snowflake_watermark()", "id"},
    {"pg_snapshot_xmin()", "bench_feed_by_xid",
     "xid xid8 DEFAULT pg_current_xact_id(), id bigint GENERATED ALWAYS AS IDENTITY,"
     " PRIMARY KEY (xid, id)",
     "quote_literal(xid) || ', ' || id", "'0', 0", "(xid, id) > (%)",
     "xid < pg_snapshot_xmin(pg_current_snapshot())", "xid, id"},
};

struct Reading {
    double inserted_per_second, read_per_second;
    std::vector<double> lags_ms;  ///< of unread rows: their age at the end
};

/// Reads rows while two sessions insert one per transaction.
Reading poll(const Method& method, std::chrono::milliseconds duration) {
    pqxx::connection connection;
    run(connection, "DROP TABLE IF EXISTS " + method.table + "; CREATE TABLE " + method.table +
                        " (" + method.columns +
                        ", created timestamptz DEFAULT clock_timestamp(), value int)");
    const std::string select = "SELECT " + method.key +
                               ", extract(epoch FROM clock_timestamp() - created) * 1000 FROM " +
                               method.table + " WHERE " + method.after;
    std::string key = method.first_key;
    Reading reading{};
    const auto keep = [&](const pqxx::result& rows) {
        for (const auto& row : rows) reading.lags_ms.push_back(row[1].as<double>());
        if (!rows.empty()) key = rows[rows.size() - 1][0].as<std::string>();
    };
    const auto end = Clock::now() + duration;
    std::thread writers{[&] {
        test::in_parallel(2, [&](int) {
            pqxx::connection writer;
            writer.prepare("insert", "INSERT INTO " + method.table + " (value) VALUES (1)");
            pqxx::nontransaction session{writer};
            while (Clock::now() < end) (void)session.exec_prepared("insert");
        });
    }};
    constexpr int rows_at_once = 1000;
    while (Clock::now() < end) {
        const pqxx::result rows =
            run(connection, filled(select, key) + " AND " + method.settled + " ORDER BY " +
                                method.order + " LIMIT " + std::to_string(rows_at_once));
        keep(rows);
        if (rows.size() < rows_at_once) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    const double seconds = std::chrono::duration<double>(duration).count();
    reading.read_per_second = static_cast<double>(reading.lags_ms.size()) / seconds;
    keep(run(connection, filled(select, key)));
    writers.join();
    reading.inserted_per_second = static_cast<double>(reading.lags_ms.size()) / seconds;
    run(connection, "DROP TABLE " + method.table);
    return reading;
}

/// A transaction in another database of the server that has a transaction ID and stays open.
class LongTransaction {
 public:
    LongTransaction() { run(connection_, "BEGIN; SELECT pg_current_xact_id()"); }

 private:
    pqxx::connection connection_{"dbname=bench_other"};
};

const std::string beside_long = ", long transaction elsewhere";

void measure_polling(Report& report, const Options& options, pqxx::connection& connection) {
    run(connection, "DROP DATABASE IF EXISTS bench_other");
    run(connection, "CREATE DATABASE bench_other");
    const std::chrono::milliseconds duration{options.quick ? 1000 : 5000};
    std::vector<Cells> rows;
    for (const bool with_long : {false, true}) {
        const std::string suffix = with_long ? beside_long : "";
        std::unique_ptr<LongTransaction> open;
        if (with_long) open = std::make_unique<LongTransaction>();
        in_turn("polling" + suffix, options.rounds(5, 2), methods, [&](const Method& method) {
            const Reading reading = poll(method, duration);
            const std::string subject = method.label + suffix;
            report.figure(subject, "inserted", "rows/s", reading.inserted_per_second);
            report.figure(subject, "read", "rows/s", reading.read_per_second);
            report.figure(subject, "lag", "ms", percentile(reading.lags_ms, 0.5));
            report.figure(subject, "p99 lag", "ms", percentile(reading.lags_ms, 0.99));
        });
        for (const Method& method : methods) {
            Cells row{method.label + suffix};
            for (const auto& [measure, digits] :
                 {std::pair{"inserted", 0}, {"read", 0}, {"lag", 1}, {"p99 lag", 1}})
                row.push_back(
                    shown(report.of("watermark", method.label + suffix, measure), digits));
            rows.push_back(row);
        }
    }
    run(connection, "DROP DATABASE bench_other");
    report.table(
        {"reading new rows", "rows/s inserted", "rows/s read", "lag, median, ms", "lag, p99, ms"},
        rows);
    report.note(
        "Two sessions insert one row per transaction for " +
        shown(std::chrono::duration<double>(duration).count(), 0) +
        " s. A third one reads the new rows, at most 1000 per statement, and waits 1 ms when "
        "there are fewer. The lag is the time from the insertion of a row until it is read; the "
        "lag of a row that is not read is its age at the end. `pg_snapshot_xmin()` requires a "
        "column with the transaction ID, and an index on it. The long transaction has a "
        "transaction ID, and is in another database of the server.");
}

}  // namespace

void watermarks(Report& report, const Options& options) {
    report.begin("watermark", "Reading new rows");
    raise_file_limit();
    pqxx::connection connection;
    run(connection, "SET jit = off");
    measure_calls(report, options, connection);
    measure_polling(report, options, connection);
    const auto of = [&](const std::string& subject, const char* measure, int digits) {
        return shown(report.of("watermark", subject, measure), digits);
    };
    const std::string& other = methods[1].label;
    report.meaning(
        "A reader that polls with `" + watermark + "` reads a row " + of(watermark, "lag", 1) +
        " ms after its insertion (median), and " + of(watermark + beside_long, "lag", 1) +
        " ms after it while a transaction in another database stays open. With `" + other +
        "`, it is " + of(other, "lag", 1) + " ms; while the transaction stays open, " +
        of(other + beside_long, "read", 0) + " of " + of(other + beside_long, "inserted", 0) +
        " rows per second are read. Reading the watermark takes " +
        of(beside(watermark, false, 1), "cost", 1) + " µs on an idle server, and " +
        of(beside(watermark, true, 1000), "cost", 1) +
        " µs with 1000 connections of which half are in a transaction.");
}

}  // namespace snowdrift::bench
