// What the kinds of clients do.
#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <tuple>
#include <utility>

#include "chaos/client.hpp"

namespace snowdrift::chaos {
namespace {

// Positions in `sources`
constexpr size_t snowflake = 0;
constexpr size_t own = 1;
constexpr size_t narrow = 2;
constexpr size_t sno = 3;
constexpr size_t own_sno = 4;
constexpr size_t ulid = 5;
constexpr size_t uuidv7 = 6;

const std::vector<size_t> of_row{snowflake, own, sno, own_sno, ulid, uuidv7};
const std::vector<size_t> ahead_of_clock{snowflake, own, ulid, uuidv7};
const std::string columns_of_row = "snowflake, own, sno, own_sno, ulid, uuid";
const std::string insert_row = "INSERT INTO rows DEFAULT VALUES RETURNING " + columns_of_row;
const std::string insert_rows =
    "INSERT INTO rows (batch) SELECT NULL FROM generate_series(1, 20) RETURNING " + columns_of_row;

/// A SELECT that draws from each source `rows` times.
std::string select(const std::vector<size_t>& columns, int rows) {
    std::string calls;
    for (const size_t column : columns)
        calls += (calls.empty() ? "" : ", ") + std::string{sources[column].call};
    return "SELECT " + calls + " FROM generate_series(1, " + std::to_string(rows) + ")";
}

}  // namespace

Client::Step Client::step_of(const std::string& kind) {
    static const std::array<std::pair<const char*, Step>, 12> steps{{
        {"posts", &Client::insert_post},
        {"block", &Client::insert_in_block},
        {"many", &Client::select_many},
        {"copy from", &Client::copy_from},
        {"copy to", &Client::copy_to},
        {"prepared", &Client::use_prepared},
        {"read only", &Client::read_only},
        {"functions", &Client::call_functions},
        {"savepoints", &Client::use_savepoints},
        {"asynchronous", &Client::insert_asynchronously},
        {"overflow", &Client::overflow},
        {"feeds", &Client::insert_in_feeds},
    }};
    return std::find_if(steps.begin(), steps.end(),
                        [&](const auto& step) { return step.first == kind; })
        ->second;
}

/// Rows that must be in the table at the end of the run, with their sealed IDs
void Client::insert_post() {
    const pqxx::result result = draw(
        "INSERT INTO posts (id, sealed) SELECT id, snowflake_seal(id, 'posts')"
        " FROM (SELECT next_snowflake()) AS drawn(id) RETURNING id",
        {snowflake});
    recorder_.acknowledge(require_id(snowflake, result[0][0].c_str()));
}

/// Transaction blocks with single rows, many rows and calls
void Client::insert_in_block() {
    begin("BEGIN");
    draw(insert_row, of_row);
    draw(select(ahead_of_clock, 3), ahead_of_clock);
    draw(insert_rows, of_row);
    draw(insert_row, of_row);
    end(chance(75) ? "COMMIT" : "ROLLBACK");
}

/// Results that the server sends in parts, and parts of a cursor
void Client::select_many() {
    draw(select(of_row, 3000), of_row);
    draw(select(ahead_of_clock, 3000), ahead_of_clock);
    begin("BEGIN");
    session_->exec("DECLARE ids CURSOR FOR " + select(ahead_of_clock, 500));
    for (int part = 0; part < 5; ++part) draw("FETCH 100 FROM ids", ahead_of_clock);
    end("COMMIT");
}

/// COPY FROM STDIN. The IDs are then read from the table.
void Client::copy_from() {
    constexpr int rows = 200;
    const int64_t batch = int64_t{number_} << 40 | ++batch_;
    const Time begin = run_.now();
#if PQXX_VERSION_MAJOR >= 7
    auto stream = pqxx::stream_to::table(*session_, {"rows"}, {"batch"});
    for (int row = 0; row < rows; ++row) stream.write_values(batch);
#else
    pqxx::stream_to stream{*session_, "rows", std::vector<std::string>{"batch"}};
    for (int row = 0; row < rows; ++row) stream << std::make_tuple(batch);
#endif
    stream.complete();
    size_t source = 0;
    for (const char* const column : {"snowflake", "own", "sno", "own_sno", "ulid", "uuid"}) {
        const std::string name{column};
        keep(session_->exec("SELECT " + name + " FROM rows WHERE batch = " + std::to_string(batch) +
                            " ORDER BY " + name),
             {of_row[source++]}, begin);
    }
}

/// COPY TO a file. Its complete lines count even if the statement has failed.
void Client::copy_to() {
    const std::filesystem::path file =
        run_.paths.work / ("copy." + std::to_string(number_) + "." + std::to_string(++batch_));
    const Time begin = run_.now();
    const auto read_file = [&] {
        std::vector<std::vector<Id>> ids(of_row.size());
        std::ifstream lines{file};
        for (std::string line; std::getline(lines, line) && !lines.eof();) {
            std::istringstream fields{line};
            for (size_t i = 0; i < of_row.size(); ++i) {
                std::string field;
                fields >> field;
                ids[i].push_back(require_id(of_row[i], field));
            }
        }
        for (size_t i = 0; i < of_row.size(); ++i)
            recorder_.receive(of_row[i], begin, run_.now(), ids[i]);
        recorder_.end_transaction();
        std::filesystem::remove(file);
    };
    try {
        session_->exec("COPY (" + select(of_row, 500) + ") TO '" + file.string() + "'");
    } catch (...) {
        read_file();
        throw;
    }
    read_file();
    last_success_ = run_.now();
}

void Client::prepare() {
    connection_->prepare("insert", insert_row);
    connection_->prepare("select", select(ahead_of_clock, 10));
}

/// Prepared statements, in the extended protocol
void Client::use_prepared() {
    for (const auto& [name, columns] : {std::pair{"insert", of_row}, {"select", ahead_of_clock}}) {
        const Time begin = run_.now();
        keep(session_->exec_prepared(name), columns, begin);
    }
}

/// Transactions without an XID
void Client::read_only() {
    draw(select(ahead_of_clock, 1), ahead_of_clock);
    begin("BEGIN READ ONLY");
    draw(select(ahead_of_clock, 2), ahead_of_clock);
    draw(select({sno, own_sno}, 2), {sno, own_sno});
    end(chance(50) ? "COMMIT" : "ROLLBACK");
}

/// Single calls
void Client::call_functions() {
    const auto source = chaos::draw<size_t>(random_, 0, sources.size() - 1);
    draw(select({source}, 1), {source});
    if (chance(20)) draw("SELECT next_snowflakes(100)", {snowflake});
}

/// Subtransactions that are rolled back
void Client::use_savepoints() {
    begin("BEGIN");
    for (int i = 0; i < 3; ++i) {
        session_->exec("SAVEPOINT s");
        draw(insert_row, of_row);
        draw(select(ahead_of_clock, 2), ahead_of_clock);
        session_->exec(chance(70) ? "ROLLBACK TO s" : "RELEASE s");
    }
    end(chance(50) ? "COMMIT" : "ROLLBACK");
}

/// Rows whose commit does not wait for the disk
void Client::insert_asynchronously() {
    draw("INSERT INTO rows DEFAULT VALUES RETURNING snowflake, own", {snowflake, own});
    draw(insert_row, of_row);
}

/// Calls that wait because the sequence is used up
void Client::overflow() { draw(select({narrow}, 300), {narrow}); }

/// Transactions that insert rows into feeds. Most are short, and some end much later than others
/// that have drawn later IDs.
void Client::insert_in_feeds() {
    end_prepared_transaction();
    begin("BEGIN");
    if (chance(20)) session_->exec("SET LOCAL synchronous_commit = off");
    const int statements = chaos::draw(random_, 1, 3);
    for (int i = 0; i < statements; ++i) {
        insert_in_feed(chaos::draw<size_t>(random_, 0, feeds.size() - 1));
        const int longest_ms = chance(10) ? 400 : chance(50) ? 10 : 1;
        std::this_thread::sleep_for(
            std::chrono::microseconds{chaos::draw(random_, 0, 1000 * longest_ms)});
    }
    if (chance(15)) {
        prepared_ = "feeds " + std::to_string(number_) + " " + std::to_string(++batch_);
        end("PREPARE TRANSACTION '" + prepared_ + "'");
        end_prepared_transaction();
    } else {
        end_feed_transaction(chance(80) ? "COMMIT" : "ROLLBACK");
    }
}

void Client::insert_in_feed(size_t index) {
    const Feed& feed = feeds[index];
    const bool is_subtransaction = chance(20);
    const bool is_undone = is_subtransaction && chance(50);
    if (is_subtransaction) session_->exec("SAVEPOINT s");
    const std::string insert =
        std::string{"INSERT INTO "} + feed.table + " AS f SELECT FROM generate_series(1, " +
        std::to_string(chaos::draw(random_, 1, 5)) + ") RETURNING " + feed.id();
    // A sequence repeats numbers that a crash has lost, and each server has the same ones.
    const pqxx::result result = feed.source ? draw(insert, {*feed.source}) : session_->exec(insert);
    // The hold of a sequence ends with the savepoint, and that of a generator with the transaction.
    if (feed.source || !is_undone)
        endpoint_.transactions.add(number_, index, feed.require_id(result[0][0].c_str()),
                                   run_.now());
    if (is_subtransaction) session_->exec(is_undone ? "ROLLBACK TO s" : "RELEASE s");
}

/// Ends a transaction that has drawn IDs.
void Client::end_feed_transaction(const std::string& statement) {
    const auto error = endpoint_.transactions.remove(number_);
    end(statement);
    if (error) run_.count_misreading(*error);
}

/// Ends the transaction that was prepared, if it exists: the connection may have been lost in any
/// of the steps.
void Client::end_prepared_transaction() {
    if (prepared_.empty()) return;
    const bool exists =
        !session_->exec("SELECT FROM pg_prepared_xacts WHERE gid = '" + prepared_ + "'").empty();
    if (exists)
        end_feed_transaction((chance(75) ? "COMMIT PREPARED '" : "ROLLBACK PREPARED '") +
                             prepared_ + "'");
    else
        (void)endpoint_.transactions.remove(number_);
    prepared_.clear();
}

}  // namespace snowdrift::chaos
