// The faults that any primary can have.
#include <chrono>
#include <csignal>
#include <string>
#include <utility>

#include "chaos/cluster.hpp"

namespace snowdrift::chaos {

using std::chrono::seconds;

std::vector<Cluster::Action> Cluster::common_actions() {
    return {
        {"termination of a backend", 12, [this] { return end_backend(SIGTERM); }},
        {"kill -9 of a backend", 6, [this] { return end_backend(SIGKILL); }},
        {"cancellation of a statement", 10, [this] { return cancel_backend(); }},
        {"SIGSTOP of a backend", 14, [this] { return freeze_backend(); }},
        {"kill -9 of the postmaster", 6, [this] { return crash(&Server::kill_postmaster); }},
        {"kill -9 of all processes", 4, [this] { return crash(&Server::power_off); }},
        {"immediate shutdown", 6, [this] { return crash(&Server::stop_immediately); }},
        {"fast shutdown", 4, [this] { return crash(&Server::stop_fast); }},
        {"DROP and CREATE EXTENSION", 4, [this] { return recreate_extension(); }},
        {"DROP and CREATE of a generator", 6, [this] { return recreate_generator(); }},
        {"slow disk", 6, [this] { return slow_disk(); }},
        {"TRUNCATE", 3, [this] { return truncate_rows(); }},
        {"rotation of a seal", 4, [this] { return rotate_seal(); }},
    };
}

bool Cluster::crash(void (Server::*stop)()) {
    Server& server = any_primary().server;
    fault(server.name);
    (server.*stop)();
    return true;
}

Cluster::Primary Cluster::any_primary() {
    const std::vector<Primary> all = primaries();
    return all[draw<size_t>(random_, 0, all.size() - 1)];
}

/// The process ID of a session that runs a statement; empty if there is none.
std::string Cluster::any_backend(Server& server, const std::string& condition) {
    const pqxx::result found = server.query(
        "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'"
        " AND state = 'active' AND application_name <> 'nemesis' AND " +
        condition + " ORDER BY application_name, pid");
    if (found.empty()) {
        run_.say(name, std::string{"no session for the "} + action_ + ": " + server.name);
        return "";
    }
    const auto index = draw<size_t>(random_, 0, static_cast<size_t>(found.size()) - 1);
    return found[static_cast<int>(index)][0].c_str();
}

bool Cluster::end_backend(int signal) {
    Server& server = any_primary().server;
    const std::string process = any_backend(server, "true");
    if (process.empty()) return false;
    fault(server.name + " " + process);
    server.signal(std::stoi(process), signal);
    return true;
}

bool Cluster::cancel_backend() {
    // A row is not replicated if the wait of its commit is canceled, so `posts` is exempt.
    const Primary primary = any_primary();
    const std::string process = any_backend(primary.server, "application_name <> 'posts'");
    if (process.empty()) return false;
    const OpenWindow window{run_, primary.lineage, Fault::cancellation};
    fault(primary.server.name + " " + process);
    primary.server.signal(std::stoi(process), SIGINT);
    return true;
}

/// Stop a session, most often in the middle of a draw. It may never continue.
bool Cluster::freeze_backend() {
    Server& server = any_primary().server;
    const std::string found = any_backend(server, "wait_event IS NULL");
    if (found.empty()) return false;
    fault(server.name + " " + found);
    const pid_t process = std::stoi(found);
    server.signal(process, SIGSTOP);
    // Until the process continues, others may wait for a lock that it holds.
    (void)run_.pause(duration(0.05, 4));
    switch (draw(random_, 1, 8)) {
        case 1:
            further_fault("immediate shutdown", server.name);
            server.stop_immediately();
            break;
        case 2:
            further_fault("kill -9 of a backend", server.name + " " + found);
            server.signal(process, SIGKILL);
            break;
        case 3:
            further_fault("termination of a backend", server.name + " " + found);
            server.signal(process, SIGTERM);
            [[fallthrough]];
        default:
            server.signal(process, SIGCONT);
    }
    return true;
}

bool Cluster::slow_disk() {
    Server& server = any_primary().server;
    const std::chrono::microseconds delay{draw(random_, 2'000, 100'000)};
    fault(server.name + " " + std::to_string(delay.count()) + " us per flush");
    server.slow_disk(delay);
    (void)run_.pause(duration(0.5, 4));
    server.slow_disk(std::chrono::microseconds{0});
    return true;
}

bool Cluster::recreate_extension() {
    const Primary primary = any_primary();
    const bool is_kept = chance(75);
    const OpenWindow window{run_, primary.lineage, Fault::extension};
    fault(primary.server.name + (is_kept ? "" : ", rolled back"));
    return try_statements(primary.server, "BEGIN;\n" + recreate_objects(primary.server.number) +
                                              (is_kept ? "; COMMIT" : "; ROLLBACK"));
}

bool Cluster::recreate_generator() {
    const Primary primary = any_primary();
    const std::vector<Generator> all = generators_of(primary.server.number);
    const Generator& generator = all[draw<size_t>(random_, 0, all.size() - 1)];
    const bool is_one_transaction = chance(50);
    const bool is_kept = chance(75);
    const OpenWindow window{run_, primary.lineage, Fault::generators};
    fault(primary.server.name + " " + generator.name + (is_kept ? "" : ", rolled back"));
    const std::string drop =
        std::string{"SELECT snowdrift.drop_generator('"} + generator.name + "', force => true);";
    const std::string one_transaction = is_one_transaction ? drop + generator.create : drop;
    if (!try_statements(primary.server,
                        "BEGIN;" + one_transaction + (is_kept ? "; COMMIT" : "; ROLLBACK")))
        return false;
    if (!is_one_transaction) primary.server.query(generator.create);
    return true;
}

bool Cluster::truncate_rows() {
    bool is_done = false;
    for (const Primary& primary : primaries()) {
        fault(primary.server.name);
        if (try_statements(primary.server, "TRUNCATE rows")) is_done = true;
    }
    return is_done;
}

bool Cluster::rotate_seal() {
    Server& server = any_primary().server;
    fault(server.name);
    return try_statements(server, "SELECT snowdrift.rotate_seal('posts')");
}

/// Run statements that are canceled if they wait too long for a lock. Returns whether they have
/// succeeded.
bool Cluster::try_statements(Server& server, const std::string& statements) {
    try {
        server.query(statements, seconds{60}, seconds{15});
        return true;
    } catch (const pqxx::failure& error) {
        run_.say(name, std::string{"not done: "} + error.what());
        return false;
    }
}

}  // namespace snowdrift::chaos
