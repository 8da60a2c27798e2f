// The clients: each draws IDs in its own way, keeps every ID that it receives, and connects again
// after each error.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <pqxx/pqxx>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "chaos/feeds.hpp"
#include "chaos/history.hpp"
#include "chaos/run.hpp"
#include "chaos/session_guard.hpp"

namespace snowdrift::chaos {

/// The server from which the clients of a lineage draw IDs. A failover changes it.
class Endpoint {
 public:
    explicit Endpoint(unsigned lineage) : lineage{lineage} {}

    const unsigned lineage;
    mutable OpenTransactions transactions;

    std::string conninfo() const {
        const std::lock_guard lock{mutex_};
        return conninfo_;
    }
    void lead_to(std::string conninfo) {
        const std::lock_guard lock{mutex_};
        conninfo_ = std::move(conninfo);
    }

 private:
    mutable std::mutex mutex_;
    std::string conninfo_;
};

/// The statements that create the extension, generators with nodes of their own, and the tables of
/// the clients, on the server with this number, which is below 512.
std::string create_objects(unsigned number);

/// The statements that drop the extension and what depends on it, and create all of it again. The
/// rows of `posts`, and the keys of its sealed IDs, remain.
std::string recreate_objects(unsigned number);

/// The generators that create_objects() creates, and the statements that create them if they do not
/// exist.
struct Generator {
    const char* name;
    std::string create;
};
std::vector<Generator> generators_of(unsigned number);

class Client {
 public:
    /// Starts client `number` of a kind, which is a name in client_kinds.cpp.
    Client(Run& run, const Endpoint& endpoint, const std::string& kind, uint32_t number);
    ~Client();
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    const std::string name;

    /// When it last received IDs, or 0.
    Time last_success() const { return last_success_; }
    /// The error that it last received.
    std::string last_error() const;

    /// Asks the client to end after its current statement.
    void stop() { is_stopped_ = true; }

 private:
    using Step = void (Client::*)();
    static Step step_of(const std::string& kind);

    void work(Step step);
    void connect();
    void disconnect();
    void await_end();
    void fail(Time begin, const std::string& state, const std::string& message);
    /// Runs a statement whose columns are IDs of these sources, and keeps the IDs.
    pqxx::result draw(const std::string& statement, const std::vector<size_t>& columns);
    void keep(const pqxx::result& result, const std::vector<size_t>& columns, Time begin);
    void begin(const char* statement);
    void end(const std::string& statement);
    static Id require_id(size_t source, std::string_view text);
    bool chance(unsigned percent);

    // The kinds, in client_kinds.cpp
    void prepare();
    void insert_post();
    void insert_in_block();
    void select_many();
    void copy_from();
    void copy_to();
    void use_prepared();
    void read_only();
    void call_functions();
    void use_savepoints();
    void insert_asynchronously();
    void overflow();
    void insert_in_feeds();
    void insert_in_feed(size_t index);
    void end_feed_transaction(const std::string& statement);
    void end_prepared_transaction();

    Run& run_;
    const Endpoint& endpoint_;
    std::mt19937_64 random_;
    SessionGuard guard_;
    Recorder recorder_;
    std::unique_ptr<pqxx::connection> connection_;
    std::unique_ptr<pqxx::nontransaction> session_;
    bool is_in_block_ = false;
    uint32_t number_;
    int64_t batch_ = 0;
    std::string prepared_;  ///< a prepared transaction, which may have ended
    std::atomic<bool> is_stopped_{false};
    std::atomic<bool> is_ended_{false};
    std::atomic<Time> last_success_{0};
    mutable std::mutex mutex_;  // of last_error_, and of connection_ itself
    std::string last_error_;
    std::thread thread_;
};

}  // namespace snowdrift::chaos
