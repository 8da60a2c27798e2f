// One PostgreSQL server in a folder of its own, with a clock of its own.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <pqxx/pqxx>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/run.hpp"

namespace snowdrift::chaos {

class Server {
 public:
    /// `number` is its snowdrift.node. The server is not initialized.
    Server(Run& run, std::string name, unsigned number);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    const std::string name;
    const unsigned number;

    // ---- the data directory; the server is stopped

    void init(const std::vector<std::string>& options = {});
    /// Makes the data directory a base backup of another server.
    void clone(const Server& source);
    /// Creates a file that tells PostgreSQL its role: "standby.signal" or "recovery.signal".
    void create_signal(const char* file) const;
    std::filesystem::path data() const { return folder_ / "data"; }
    std::filesystem::path config() const { return folder_ / "postgresql.conf"; }
    std::filesystem::path log() const { return folder_ / "log"; }
    std::filesystem::path folder() const { return folder_; }
    std::filesystem::path socket() const { return folder_ / ".s.PGSQL.5432"; }
    /// A field of pg_controldata.
    std::string control_data(std::string_view field) const;

    // ---- configuration

    /// Replaces the lines that depend on the server's role. A running server reloads them.
    void configure_role(const std::vector<std::string>& lines);
    /// Replaces the lines that simulate a slow disk: each flush of the WAL takes `delay` longer,
    /// at most 100 ms.
    void slow_disk(std::chrono::microseconds delay);

    // ---- processes

    /// Starts the server if it does not run, and waits until it accepts connections. Throws if it
    /// does not.
    void start();
    void stop_fast();
    void stop_immediately();
    /// Kills the postmaster, and waits until the backends have noticed it.
    void kill_postmaster();
    /// Kills all processes, as a power failure does.
    void power_off();
    bool is_running();

    /// Sends a signal to one of its processes.
    void signal(pid_t process, int signal);
    /// Lines of the log that show a crash or an ID that exists already. A process that signal() has
    /// killed is no crash, and neither is a lack of disk space if the server `may_fill_disk`.
    std::vector<std::string> crashes(bool may_fill_disk = false) const;

    // ---- connections

    std::string conninfo() const;
    /// Runs statements in a session of their own, until they succeed or `patience` is over. Errors
    /// other than lost connections are thrown at once. Statements that take longer than `limit`,
    /// such as those that wait for a lock, are canceled.
    pqxx::result query(const std::string& statements,
                       std::chrono::seconds patience = std::chrono::seconds{60},
                       std::chrono::seconds limit = std::chrono::seconds{60});
    /// The first value of the result; empty if there is none.
    std::string value(const std::string& statement);
    /// Waits until the statement returns true. Returns false if it does not within `patience`.
    bool await(const std::string& statement,
               std::chrono::seconds patience = std::chrono::seconds{60});

    // ---- the clock

    /// Sets the clock: seconds ahead of the true time.
    void set_clock(double lead);
    double clock() const;

 private:
    void write_config();
    void signal_postmaster(int signal, std::chrono::seconds patience);
    /// Powers the server off. Throws a description of the problem and of the server's processes.
    [[noreturn]] void give_up(const char* problem);
    /// The last line of the log that tells why the server has stopped.
    std::string last_fatal() const;

    Run& run_;
    std::filesystem::path folder_;
    std::vector<std::string> role_;
    std::chrono::microseconds flush_delay_{0};
    pid_t postmaster_ = 0;
    std::set<pid_t> killed_;
    std::atomic<int64_t>* lead_ = nullptr;  ///< of the clock, in nanoseconds
};

}  // namespace snowdrift::chaos
