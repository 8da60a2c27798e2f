#include "chaos/server.hpp"

#include <fcntl.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <regex>
#include <stdexcept>
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

/// libfaketime's data that the processes of a server share. Without it, libfaketime names the data
/// after a process; then a program that the server starts, such as cp, fails if its process has the
/// ID of an earlier one that was killed.
void create_shared_clock(const std::string& shared) {
    sem_t* const semaphore = ::sem_open(shared.c_str(), O_CREAT | O_EXCL, 0600, 1);
    const int memory = ::shm_open(shared.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600);
    const std::string unset(4096, '\xff');  // no process has set the start time
    const bool is_created = semaphore != SEM_FAILED && memory >= 0 &&
                            ::write(memory, unset.data(), unset.size()) == std::ssize(unset);
    if (memory >= 0) (void)::close(memory);
    if (semaphore != SEM_FAILED) (void)::sem_close(semaphore);
    if (!is_created) throw std::system_error{errno, std::generic_category(), shared};
}

}  // namespace

Server::Server(Run& run, std::string server_name, unsigned server_number)
    : name{std::move(server_name)},
      number{server_number},
      run_{run},
      folder_{run.paths.work / name},
      shared_clock_{"/snowdrift_" + std::to_string(::getpid()) + "_" + name} {
    create_shared_clock(shared_clock_);
    fs::create_directories(folder_);
    set_clock(0);
}

Server::~Server() {
    if (postmaster_ != 0) power_off();
    (void)::sem_unlink(shared_clock_.c_str());
    (void)::shm_unlink(shared_clock_.c_str());
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
         {"listen_addresses = ''", "max_connections = 80", "shared_buffers = 32MB", "jit = off",
          "wal_level = logical", "wal_log_hints = on", "max_wal_senders = 10",
          "wal_keep_size = 384MB", "max_wal_size = 256MB", "checkpoint_timeout = 30s",
          "restart_after_crash = on", "log_line_prefix = '%m [%p] '",
          // PostgreSQL's timeout handler finds all timeouts due when one is (see Run::first_clock).
          // So a statement that waits for a lock is canceled when deadlock_timeout ends.
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
        "LD_PRELOAD=" + run_.paths.faketime.string(),
        "FAKETIME_TIMESTAMP_FILE=" + (folder_ / "clock").string(),
        "FAKETIME_SHARED=" + shared_clock_ + " " + shared_clock_,
        "TZ=UTC",
        "FAKETIME_NO_CACHE=1",
        "FAKETIME_DONT_FAKE_MONOTONIC=1",
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
        if (poll(seconds{30}, [&] { return !exists(child); })) continue;
        throw std::runtime_error{name + ": a backend survives its postmaster"};
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
        if (is_crash) found.push_back(name + ": " + line);
    }
    return found;
}

// ---- connections

std::string Server::conninfo() const {
    return "host=" + folder_.string() +
           " port=5432 user=postgres dbname=postgres connect_timeout=10";
}

pqxx::result Server::query(const std::string& statement, seconds patience) {
    for (const auto end = Clock::now() + patience;; std::this_thread::sleep_for(poll_interval)) {
        try {
            pqxx::connection connection{
                conninfo() + " application_name=nemesis options='-c statement_timeout=60s'"};
            pqxx::nontransaction transaction{connection};
            return transaction.exec(statement);
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

void Server::set_clock(double offset) {
    const std::lock_guard lock{clock_mutex_};
    clock_ = offset;
    const fs::path next = folder_ / "clock.new";
    std::array<char, 32> text{};
    (void)std::snprintf(text.data(), text.size(), "%+.3f\n", run_.first_clock + offset);
    std::ofstream{next} << text.data();
    fs::rename(next, folder_ / "clock");
}

double Server::clock() {
    const std::lock_guard lock{clock_mutex_};
    return clock_;
}

}  // namespace snowdrift::chaos
