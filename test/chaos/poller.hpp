// A poller: a session that reads the rows of all feeds up to the watermark, each from the ID of the
// last row that it has read.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <pqxx/pqxx>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "chaos/client.hpp"
#include "chaos/feeds.hpp"
#include "chaos/run.hpp"
#include "chaos/session_guard.hpp"

namespace snowdrift::chaos {

class Poller {
 public:
    /// Starts to read from the beginning of the feeds. The position stays valid when another server
    /// continues after the endpoint's, with all rows that were read. On a server that was recovered
    /// to an earlier time, start another poller: that server may issue IDs below
    /// the last ID that this poller has read elsewhere.
    Poller(Run& run, const Endpoint& endpoint);
    ~Poller();
    Poller(const Poller&) = delete;
    Poller& operator=(const Poller&) = delete;

    /// Waits until the last rows are read, and ends the poller. Returns descriptions of the rows
    /// that it has missed, or read twice or out of order. Call this when no client inserts rows any
    /// more.
    std::vector<std::string> end();

 private:
    /// How a poller reads rows: all in one statement, parts of a cursor, or with a snapshot that is
    /// older than the statement.
    enum class Way : uint8_t { statement, cursor, old_snapshot };

    struct Position {
        std::vector<ReadRow> read;
        /// The rows that a reader without the watermark has read, for comparison.
        std::vector<Id> unbounded;
    };

    void work();
    void connect();
    void disconnect();
    void poll(size_t index);
    std::vector<pqxx::result> read(size_t index, Way way);
    std::string generators();
    void keep(size_t index, const pqxx::result& rows, Time begin);
    void read_unbounded(size_t index);
    std::vector<Id> stored(const Feed& feed) const;
    size_t rows_read();
    bool has_read(size_t index, const std::vector<Id>& stored);
    void fail(Time begin, const std::string& state, const std::string& message);

    Run& run_;
    const Endpoint& endpoint_;
    const std::string name_;
    SessionGuard guard_;
    std::mt19937_64 random_;
    std::unique_ptr<pqxx::connection> connection_;
    std::unique_ptr<pqxx::nontransaction> session_;
    std::mutex mutex_;  // of positions_
    std::array<Position, feeds.size()> positions_;
    std::array<std::string, feeds.size()> texts_;            // of the last IDs in `read`
    std::array<std::string, feeds.size()> unbounded_texts_;  // and in `unbounded`
    std::atomic<bool> is_stopped_{false};
    std::thread thread_;
};

}  // namespace snowdrift::chaos
