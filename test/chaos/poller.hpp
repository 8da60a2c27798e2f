// A poller reads the rows of feeds up to the watermark, each from the ID of the last row that it
// has read.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
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

/// A session that is ended if it takes too long.
class GuardedSession {
 public:
    GuardedSession(Run& run, const Endpoint& endpoint)
        : endpoint_{endpoint}, guard_{run, endpoint.lineage} {}

    /// Whether it is open, and the endpoint still leads to its server.
    bool is_open() const { return session_ && conninfo_ == endpoint_.conninfo(); }
    void open();
    void close();
    /// A step begins.
    void begin() { guard_.begin(connection_->backendpid()); }
    pqxx::result exec(const std::string& statement) { return session_->exec(statement); }

 private:
    const Endpoint& endpoint_;
    SessionGuard guard_;
    std::string conninfo_;
    std::unique_ptr<pqxx::connection> connection_;
    std::unique_ptr<pqxx::nontransaction> session_;
};

class Poller {
 public:
    /// Starts to read all feeds from the beginning. The position stays valid when another server
    /// continues after the endpoint's, with all rows that were read. On a server that was recovered
    /// to an earlier time, start another poller: that server may issue IDs below
    /// the last ID that this poller has read elsewhere.
    ///
    /// Numbers of a sequence come again if a crash or a failover loses rows that were read. The
    /// position in such a feed is therefore stored in the database, so that it is lost with them.
    ///
    /// With `standby`, it reads only from this standby of the endpoint's server, which may have
    /// received rows that a failover loses. It publishes the watermarks, and stores the position,
    /// on the endpoint's server.
    Poller(Run& run, const Endpoint& endpoint, const Endpoint* standby = nullptr);
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
    void publish();
    static bool is_stored(size_t index) { return feeds[index].watermark == nullptr; }
    void load_position(size_t index);
    void poll_new(size_t index);
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
    const std::vector<size_t> feeds_;  ///< positions in `feeds`
    std::mt19937_64 random_;
    GuardedSession primary_;
    std::optional<GuardedSession> standby_;
    GuardedSession& reader_;
    Time next_publication_ = 0;
    std::mutex mutex_;  // of positions_
    std::array<Position, feeds.size()> positions_;
    std::array<std::string, feeds.size()> texts_;            // of the last IDs in `read`
    std::array<std::string, feeds.size()> unbounded_texts_;  // and in `unbounded`
    std::atomic<bool> is_stopped_{false};
    std::thread thread_;
};

}  // namespace snowdrift::chaos
