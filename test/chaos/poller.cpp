#include "chaos/poller.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>

namespace snowdrift::chaos {
namespace {

using std::chrono::milliseconds;

constexpr int rows_at_once = 500;

/// A standby replays what the primary has done up to this time before.
constexpr Time longest_lag = Time{10} * 1'000'000'000;

/// The rows after the one whose ID has this text, if it is not empty.
std::string select(const Feed& feed, const std::string& last, const std::string& condition) {
    std::string where = condition;
    if (!last.empty())
        where = "f.id > " + feed.value("'" + last + "'") + (where.empty() ? "" : " AND " + where);
    return "SELECT " + feed.id() + " FROM " + feed.table + " AS f" +
           (where.empty() ? "" : " WHERE " + where) + " ORDER BY f.id LIMIT " +
           std::to_string(rows_at_once);
}

/// All feeds, or on a standby those of the default Snowflake generator and of a sequence.
std::vector<size_t> choose_feeds(bool is_standby) {
    std::vector<size_t> chosen;
    for (size_t index = 0; index < feeds.size(); ++index)
        if (!is_standby || feeds[index].source.value_or(0) == 0) chosen.push_back(index);
    return chosen;
}

}  // namespace

// ---- sessions

void GuardedSession::open() {
    conninfo_ = endpoint_.conninfo();
    connection_ = std::make_unique<pqxx::connection>(
        conninfo_ + " application_name=poller options='-c client_min_messages=error'");
    session_ = std::make_unique<pqxx::nontransaction>(*connection_);
    begin();
}

void GuardedSession::close() {
    guard_.disconnect();
    session_.reset();
    connection_.reset();
}

Poller::Poller(Run& run, const Endpoint& endpoint, const Endpoint* standby)
    : run_{run},
      endpoint_{endpoint},
      name_{"poller " + std::to_string(endpoint.lineage) +
            (standby != nullptr ? " on a standby" : "")},
      feeds_{choose_feeds(standby != nullptr)},
      random_{run.random(name_)},
      primary_{run, endpoint},
      reader_{standby != nullptr ? standby_.emplace(run, *standby) : primary_} {
    thread_ = std::thread{[this] { work(); }};
}

Poller::~Poller() {
    is_stopped_ = true;
    if (thread_.joinable()) thread_.join();
}

void Poller::work() {
    while (!is_stopped_ && !interrupted) {
        const Time begin = run_.now();
        try {
            if (!primary_.is_open() || !reader_.is_open()) connect();
            primary_.begin();
            reader_.begin();
            if (standby_) publish();
            for (const size_t index : feeds_)
                standby_ || is_stored(index) ? poll_new(index) : poll(index);
            std::this_thread::sleep_for(milliseconds{draw(random_, 0, 15)});
        } catch (const pqxx::deadlock_detected& error) {
            fail(begin, "40P01", error.what());
        } catch (const pqxx::serialization_failure& error) {
            fail(begin, "40001", error.what());
        } catch (const pqxx::sql_error& error) {
            fail(begin, error.sqlstate(), error.what());
        } catch (const pqxx::broken_connection& error) {
            fail(begin, "", error.what());
        } catch (const std::exception& error) {
            run_.complain(name_, error.what());
            fail(begin, "", error.what());
        }
    }
    disconnect();
}

void Poller::connect() {
    disconnect();
    primary_.open();
    if (standby_) standby_->open();
    for (const size_t index : feeds_)
        if (is_stored(index)) load_position(index);
}

void Poller::disconnect() {
    primary_.close();
    if (standby_) standby_->close();
}

void Poller::fail(Time begin, const std::string& state, const std::string& message) {
    const Time earliest = standby_ ? begin - longest_lag : begin;
    run_.add(Failure{earliest, run_.now(), endpoint_.lineage, state, one_line(message)});
    disconnect();
    (void)run_.pause(milliseconds{draw(random_, 20, 300)});
}

// ---- reading

/// Publish the watermarks about every 100 ms, as a timer would.
void Poller::publish() {
    if (run_.now() < next_publication_) return;
    primary_.exec("SELECT snowdrift.publish_watermarks()");
    next_publication_ = run_.now() + 100'000'000;
}

/// Begin after the position in the database, when an earlier session no longer changes it. Rows
/// after it that were read are read again: the session was lost before the position was stored, or
/// the rows were lost with it.
void Poller::load_position(size_t index) {
    const Feed& feed = feeds[index];
    texts_[index] = primary_
                        .exec("INSERT INTO positions VALUES ('" + name_ + "', '" + feed.table +
                              "') ON CONFLICT (poller, feed) DO UPDATE SET id = positions.id"
                              " RETURNING id")[0][0]
                        .c_str();
    const Id last = texts_[index].empty() ? Id{} : feed.require_id(texts_[index].c_str());
    const std::lock_guard lock{mutex_};
    std::vector<ReadRow>& read = positions_[index].read;
    while (!read.empty() && read.back().id > last) read.pop_back();
}

/// Read rows with snowdrift.read_new(), or on a standby also below the watermark, and store the
/// position on the primary. Its session is older than the rows, so a position that it stores is
/// lost if the rows are.
void Poller::poll_new(size_t index) {
    const Feed& feed = feeds[index];
    const Time begin = run_.now();
    const std::string after = texts_[index].empty() ? "NULL" : "'" + texts_[index] + "'";
    const pqxx::result rows =
        reader_.exec(feed.watermark != nullptr && draw(random_, 0, 1) == 0
                         ? select(feed, texts_[index], std::string{"f.id < "} + feed.watermark)
                         : "SELECT " + feed.id() + " FROM snowdrift.read_new(NULL::" + feed.table +
                               ", " + after + ", " + std::to_string(rows_at_once) + ") AS f");
    keep(index, rows, begin);
    if (is_stored(index) && !rows.empty())
        primary_.exec("UPDATE positions SET id = " + texts_[index] + " WHERE poller = '" + name_ +
                      "' AND feed = '" + feed.table + "'");
    read_unbounded(index);
}

void Poller::poll(size_t index) {
    const Feed& feed = feeds[index];
    const Time begin = run_.now();
    const std::string watermark =
        reader_.exec(std::string{"SELECT "} + feed.watermark)[0][0].c_str();
    endpoint_.transactions.compare(index, feed.require_id(watermark.c_str()), begin);
    const auto percent = draw(random_, 1, 100);
    const Way way = percent <= 70   ? Way::statement
                    : percent <= 85 ? Way::cursor
                                    : Way::old_snapshot;
    // Rows can be missed if a generator is dropped and created again after the snapshot was taken,
    // and before the watermark is read: see docs/feeds.md.
    const std::string before = generators();
    const Time begin_of_read = run_.now();
    const std::vector<pqxx::result> parts = read(index, way);
    if (generators() == before)
        for (const pqxx::result& part : parts) keep(index, part, begin_of_read);
    read_unbounded(index);
}

/// Identifies the named generators: other transactions create those that are created again.
std::string Poller::generators() {
    const pqxx::result found = reader_.exec(
        "SELECT string_agg(xmin::text, ' ' ORDER BY name) FROM snowdrift_tables.generator");
    return found[0][0].c_str();
}

std::vector<pqxx::result> Poller::read(size_t index, Way way) {
    const Feed& feed = feeds[index];
    const std::string query = select(feed, texts_[index], "f.id < " + feed.value(feed.watermark));
    const milliseconds rest{draw(random_, 0, 20)};
    std::vector<pqxx::result> parts;
    switch (way) {
        case Way::statement:
            parts.push_back(reader_.exec(query));
            break;
        case Way::cursor:
            reader_.exec("BEGIN");
            reader_.exec("DECLARE part CURSOR FOR " + query);
            for (pqxx::result rows = reader_.exec("FETCH 5 FROM part"); !rows.empty();
                 rows = reader_.exec("FETCH 50 FROM part")) {
                parts.push_back(rows);
                std::this_thread::sleep_for(rest / 4);
            }
            reader_.exec("COMMIT");
            break;
        case Way::old_snapshot:
            reader_.exec("BEGIN ISOLATION LEVEL REPEATABLE READ");
            reader_.exec("SELECT 1");
            std::this_thread::sleep_for(rest);
            parts.push_back(reader_.exec(query));
            reader_.exec("COMMIT");
    }
    return parts;
}

/// Keep rows of a statement or transaction that has begun at that time.
void Poller::keep(size_t index, const pqxx::result& rows, Time begin) {
    if (rows.empty()) return;
    const std::lock_guard lock{mutex_};
    std::vector<ReadRow>& read = positions_[index].read;
    for (const auto& row : rows) {
        read.push_back({feeds[index].require_id(row[0].c_str()), begin});
        texts_[index] = row[0].c_str();
    }
    endpoint_.transactions.compare(index, read.back().id, begin);
}

/// What people write without a watermark: it shows that there are rows to miss.
void Poller::read_unbounded(size_t index) {
    const Feed& feed = feeds[index];
    for (const auto& row : reader_.exec(select(feed, unbounded_texts_[index], ""))) {
        positions_[index].unbounded.push_back(feed.require_id(row[0].c_str()));
        unbounded_texts_[index] = row[0].c_str();
    }
}

// ---- the end

std::vector<Id> Poller::stored(const Feed& feed) const {
    pqxx::connection connection{endpoint_.conninfo() + " application_name=nemesis"};
    pqxx::nontransaction session{connection};
    std::vector<Id> ids;
    for (const auto& row :
         session.exec("SELECT " + feed.id() + " FROM " + feed.table + " AS f ORDER BY f.id"))
        ids.push_back(feed.require_id(row[0].c_str()));
    return ids;
}

bool Poller::has_read(size_t index, const std::vector<Id>& stored) {
    const std::lock_guard lock{mutex_};
    const std::vector<ReadRow>& read = positions_[index].read;
    if (stored.empty()) return true;
    const auto last = std::find_if(read.rbegin(), read.rend(),
                                   [&](const ReadRow& row) { return row.id <= stored.back(); });
    return last != read.rend() && last->id == stored.back();
}

/// The number of rows of all feeds that have been read.
size_t Poller::rows_read() {
    const std::lock_guard lock{mutex_};
    size_t rows = 0;
    for (const Position& position : positions_) rows += position.read.size();
    return rows;
}

std::vector<std::string> Poller::end() {
    std::vector<std::string> problems;
    std::array<std::vector<Id>, feeds.size()> all;
    // A poller that has begun with the first row of a large table takes long, but makes progress.
    constexpr Time patience = Time{60} * 1'000'000'000;
    for (const size_t index : feeds_) {
        all[index] = stored(feeds[index]);
        size_t rows = rows_read();
        Time last_progress = run_.now();
        while (!has_read(index, all[index]) && run_.now() < last_progress + patience &&
               run_.pause(milliseconds{20})) {
            const size_t rows_now = rows_read();
            if (rows_now > rows) last_progress = run_.now();
            rows = rows_now;
        }
    }
    is_stopped_ = true;
    thread_.join();
    for (const size_t index : feeds_) {
        const Feed& feed = feeds[index];
        Position& position = positions_[index];
        for (const std::string& each : describe_misread(feed, position.read, all[index]))
            problems.push_back(name_ + ": " + each);
        std::vector<Id>& unbounded = position.unbounded;
        std::vector<Id> missed;
        std::set_difference(all[index].begin(), all[index].end(), unbounded.begin(),
                            unbounded.end(), std::back_inserter(missed));
        // A reader without the watermark misses its last rows only because it was stopped.
        const auto is_later = [&](const Id& id) {
            return unbounded.empty() || id > unbounded.back();
        };
        missed.erase(std::find_if(missed.begin(), missed.end(), is_later), missed.end());
        run_.count_rows(std::string{feed.table} + (standby_ ? " on a standby" : ""),
                        position.read.size(), missed.size());
    }
    return problems;
}

}  // namespace snowdrift::chaos
