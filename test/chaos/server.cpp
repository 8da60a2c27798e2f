#include "chaos/server.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <condition_variable>
#include <csignal>
#include <fstream>
#include <iterator>
#include <mutex>
#include <regex>
#include <stdexcept>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include "chaos/process.hpp"

namespace snowdrift::chaos {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds poll_interval{20};

std::string slurp(const fs::path& path) {
    std::ifstream file{path};
    return {std::istreambuf_iterator<char>{file}, {}};
}

/// Polls a condition. Returns false if it does not become true within `patience`.
template <typename Condition>
bool poll(seconds patience, Condition condition) {
    const auto end = Clock::now() + patience;
    while (!condition()) {
        if (Clock::now() > end || interrupted) return false;
        std::this_thread::sleep_for(poll_interval);
    }
    return true;
}

/// The lead of a clock, in a file that the processes of a server map (see preload/clock.cpp).
std::atomic<int64_t>& create_lead(const fs::path& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void* memory = MAP_FAILED;
    if (file >= 0 && ::ftruncate(file, sizeof(std::atomic<int64_t>)) == 0)
        memory = ::mmap(nullptr, sizeof(std::atomic<int64_t>), PROT_READ | PROT_WRITE, MAP_SHARED,
                        file, 0);
    if (memory == MAP_FAILED) throw std::system_error{errno, std::generic_category(), path};
    (void)::close(file);
    return *static_cast<std::atomic<int64_t>*>(memory);
}

/// Cancels the statements of a backend after some time. statement_timeout and lock_timeout would
/// not do: a step of the server's clock ends or extends them.
class Cancellation {
 public:
    Cancellation(pid_t backend, seconds limit)
        : thread_{[=](const std::stop_token& stop) {
              std::mutex mutex;
              std::unique_lock lock{mutex};
              std::condition_variable_any ended;
              (void)ended.wait_for(lock, stop, limit, [] { return false; });
              if (!stop.stop_requested()) (void)::kill(backend, SIGINT);
          }} {}

 private:
    std::jthread thread_;
};

}  // namespace

Server::Server(Run& run, std::string server_name, unsigned server_number)
    : name{std::move(server_name)},
      number{server_number},
      run_{run},
      folder_{run.paths.work / name} {
    fs::create_directories(folder_);
    lead_ = &create_lead(folder_ / "clock");
}

Server::~Server() {
    if (postmaster_ != 0) power_off();
    (void)::munmap(lead_, sizeof *lead_);
}

// ---- the data directory

void Server::init(const std::vector<std::string>& options) {
    std::vector<std::string> command{run_.paths.bindir / "initdb",
                                     "-D",
                                     data(),
                                     "-U",
                                     "postgres",
                                     "--auth=trust",
                                     "--encoding=UTF8",
                                     "--no-locale",
                                     "--no-sync"};
    command.insert(command.end(), options.begin(), options.end());
    if (execute(command, log()) != 0) throw std::runtime_error{name + ": initdb failed"};
    write_config();
}

void Server::clone(const Server& source) {
    fs::remove_all(data());
    const int status = execute({run_.paths.bindir / "pg_basebackup", "-D", data(), "-h",
                                source.folder(), "-U", "postgres", "-c", "fast", "--no-sync"},
                               log());
    if (status != 0) throw std::runtime_error{name + ": pg_basebackup failed"};
    write_config();
}

void Server::create_signal(const char* file) const { std::ofstream{data() / file}; }

std::string Server::control_data(std::string_view field) const {
    const fs::path output = folder_ / "control_data";
    fs::remove(output);
    if (execute({run_.paths.bindir / "pg_controldata", data()}, output) != 0)
        throw std::runtime_error{name + ": pg_controldata failed"};
    std::ifstream lines{output};
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with(field) && line.size() > field.size() && line[field.size()] == ':')
            return line.substr(line.find_first_not_of(' ', field.size() + 1));
    throw std::runtime_error{name + ": pg_controldata has no field " + std::string{field}};
}

// ---- configuration

void Server::configure_role(const std::vector<std::string>& lines) {
    role_ = lines;
    write_config();
}

void Server::slow_disk(std::chrono::microseconds delay) {
    flush_delay_ = delay;
    write_config();
}

void Server::write_config() {
    const fs::path next = folder_ / "postgresql.conf.new";
    std::ofstream file{next};
    for (const char* line :
         {"listen_addresses = ''", "max_connections = 80", "max_prepared_transactions = 10",
          "shared_buffers = 32MB", "jit = off", "wal_level = logical", "wal_log_hints = on",
          "max_wal_senders = 10", "wal_keep_size = 384MB", "max_wal_size = 256MB",
          "checkpoint_timeout = 30s", "restart_after_crash = on", "log_line_prefix = '%m [%p] '",
          "deadlock_timeout = 3s",
          // A clock that steps must not end connections.
          "wal_sender_timeout = 0", "wal_receiver_timeout = 0",
          "wal_retrieve_retry_interval = 100ms"})
        file << line << '\n';
    file << "unix_socket_directories = '" << folder_.string() << "'\n"
         << "snowdrift.node = " << number << '\n'
         << "commit_delay = " << flush_delay_.count() << "\ncommit_siblings = 0\n"
         << slurp(run_.paths.extension_conf);
    for (const std::string& line : role_) file << line << '\n';
    file.close();
    fs::rename(next, config());
    if (postmaster_ != 0) (void)::kill(postmaster_, SIGHUP);
}

// ---- processes

void Server::start() {
    const std::vector<std::string> variables{
        "LD_PRELOAD=" + run_.paths.clock.string(),
        "CHAOS_CLOCK=" + (folder_ / "clock").string(),
        "TZ=UTC",
    };
    int starts = 0;
    const bool is_ready = poll(seconds{120}, [&] {
        if (!is_running()) {
            // After a crash, the postmaster can exit although it ran when this call began.
            if (++starts > 3) throw std::runtime_error{name + " does not start: " + last_fatal()};
            postmaster_ = spawn({run_.paths.bindir / "postgres", "-D", data(), "-c",
                                 "config_file=" + config().string()},
                                variables, log());
        }
        try {
            const pqxx::connection connection{conninfo()};
            return true;
        } catch (const pqxx::broken_connection&) {
            return false;
        }
    });
    if (!is_ready) give_up("accepts no connections");
}

void Server::give_up(const char* problem) {
    std::string description = name + " " + problem;
    for (const pid_t child : children_of(postmaster_)) description += "; " + describe(child);
    power_off();  // so that the run goes on
    throw std::runtime_error{description};
}

bool Server::is_running() {
    if (postmaster_ != 0 && has_ended(postmaster_)) postmaster_ = 0;
    return postmaster_ != 0;
}

void Server::signal_postmaster(int signal, seconds patience) {
    if (!is_running()) return;
    (void)::kill(postmaster_, signal);
    if (!poll(patience, [&] { return !is_running(); }) && !interrupted) give_up("does not stop");
}

void Server::stop_fast() {
    // Wait until a crash recovery has ended. PostgreSQL does not stop if it is shut down during it:
    // the postmaster then waits for the checkpointer, and never tells it to stop.
    if (is_running()) start();
    signal_postmaster(SIGINT, seconds{120});
}

void Server::stop_immediately() {
    if (!is_running()) return;
    (void)::kill(postmaster_, SIGQUIT);
    if (poll(seconds{6}, [&] { return !is_running(); })) return;
    // The postmaster kills frozen sessions after five seconds, but by its clock, which may have
    // been set back.
    for (const pid_t child : children_of(postmaster_)) (void)::kill(child, SIGKILL);
    signal_postmaster(SIGQUIT, seconds{60});
}

void Server::kill_postmaster() {
    if (!is_running()) return;
    const std::vector<pid_t> children = children_of(postmaster_);
    (void)::kill(postmaster_, SIGKILL);
    await_end(std::exchange(postmaster_, 0));
    for (const pid_t child : children) {
        // A WAL sender does not look for its postmaster while it has changes to decode and send.
        if (describe(child).find("walsender") != std::string::npos) (void)::kill(child, SIGKILL);
        if (poll(seconds{30}, [&] { return !exists(child); })) continue;
        throw std::runtime_error{name + ": " + describe(child) + " survives its postmaster"};
    }
}

void Server::power_off() {
    if (!is_running()) return;
    (void)::kill(postmaster_, SIGSTOP);  // it must not start further processes
    for (const pid_t child : children_of(postmaster_)) (void)::kill(child, SIGKILL);
    (void)::kill(postmaster_, SIGKILL);
    await_end(std::exchange(postmaster_, 0));
}

void Server::signal(pid_t process, int signal) {
    (void)::kill(process, signal);
    if (signal != SIGKILL) return;
    killed_.insert(process);
    // When it has ended, the postmaster accepts no connection before it has noticed that.
    (void)poll(seconds{30}, [&] { return !exists(process); });
}

std::string Server::last_fatal() const {
    std::ifstream lines{log()};
    std::string last;
    for (std::string line; std::getline(lines, line);)
        if (line.find("FATAL: ") != line.npos) last = line;
    return last;
}

std::vector<std::string> Server::crashes(bool may_fill_disk) const {
    static const std::regex ended{R"(\(PID (\d+)\) was terminated by signal (\d+))"};
    std::vector<std::string> found;
    std::ifstream lines{log()};
    bool is_full = false;  // a server that has panicked for lack of space aborts
    bool is_after_crash = false;
    std::string reason;  // what a library has written since the last crash
    for (std::string line; std::getline(lines, line);) {
        const auto contains = [&](const char* part) { return line.find(part) != line.npos; };
        const bool is_panic = contains("PANIC: ");
        const bool is_explained = may_fill_disk && contains("No space left on device");
        is_full = is_full || (is_panic && is_explained);
        std::smatch match;
        bool is_crash =
            contains("TRAP: ") || contains("duplicate key value") || (is_panic && !is_explained);
        if (std::regex_search(line, match, ended)) {
            is_crash = match[2] == "9" ? !killed_.contains(std::stoi(match[1]))
                                       : match[2] != "6" || !std::exchange(is_full, false);
        }
        if (is_after_crash && contains("DETAIL: ")) found.push_back(name + ": " + line);
        is_after_crash = is_crash;
        if (is_crash) {
            found.push_back(name + ": " + line + std::exchange(reason, ""));
        } else if (!line.starts_with("20") && !line.starts_with('\t')) {
            reason = " after: " + line;
        }
    }
    return found;
}

// ---- connections

std::string Server::conninfo() const {
    return "host=" + folder_.string() +
           " port=5432 user=postgres dbname=postgres connect_timeout=10";
}

pqxx::result Server::query(const std::string& statements, seconds patience, seconds limit) {
    for (const auto end = Clock::now() + patience;; std::this_thread::sleep_for(poll_interval)) {
        try {
            pqxx::connection connection{conninfo() + " application_name=nemesis"};
            pqxx::nontransaction transaction{connection};
            const Cancellation cancellation{connection.backendpid(), limit};
            return transaction.exec(statements);
        } catch (const pqxx::broken_connection&) {
            if (Clock::now() > end || interrupted) throw;
        } catch (const pqxx::sql_error& error) {
            const bool is_shutdown = error.sqlstate().starts_with("57P0");
            if (!is_shutdown || Clock::now() > end || interrupted) throw;
        }
    }
}

std::string Server::value(const std::string& statement) {
    const pqxx::result result = query(statement);
    return result.empty() || result[0][0].is_null() ? "" : result[0][0].c_str();
}

bool Server::await(const std::string& statement, seconds patience) {
    return poll(patience, [&] { return value(statement) == "t"; });
}

// ---- the clock

void Server::set_clock(double lead) { *lead_ = std::llround(lead * 1e9); }

double Server::clock() const { return static_cast<double>(*lead_) * 1e-9; }

}  // namespace snowdrift::chaos
