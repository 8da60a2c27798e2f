// The faults that any primary can have.
#include <csignal>
#include <string>
#include <utility>

#include "chaos/cluster.hpp"

namespace snowdrift::chaos {

std::vector<Cluster::Action> Cluster::common_actions() {
    return {
        {12, [this] { end_backend("termination of a backend", SIGTERM); }},
        {6, [this] { end_backend("kill -9 of a backend", SIGKILL); }},
        {10, [this] { cancel_backend(); }},
        {14, [this] { freeze_backend(); }},
        {6, [this] { crash("kill -9 of the postmaster", &Server::kill_postmaster); }},
        {4, [this] { crash("kill -9 of all processes", &Server::power_off); }},
        {6, [this] { crash("immediate shutdown", &Server::stop_immediately); }},
        {4, [this] { crash("fast shutdown", &Server::stop_fast); }},
        {4, [this] { recreate_extension(); }},
        {6, [this] { recreate_generator(); }},
        {6, [this] { slow_disk(); }},
        {3, [this] { truncate_rows(); }},
    };
}

void Cluster::crash(const char* fault_name, void (Server::*stop)()) {
    Server& server = any_primary().server;
    fault(fault_name, server.name);
    (server.*stop)();
}

Cluster::Primary Cluster::any_primary() {
    const std::vector<Primary> all = primaries();
    return all[draw<size_t>(random_, 0, all.size() - 1)];
}

/// The process ID of a session that runs a statement, for this fault; empty if there is none.
std::string Cluster::any_backend(const char* fault_name, Server& server,
                                 const std::string& condition) {
    const pqxx::result found = server.query(
        "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'"
        " AND state = 'active' AND application_name <> 'nemesis' AND " +
        condition + " ORDER BY application_name, pid");
    if (found.empty()) {
        run_.say(name, std::string{"no session for the "} + fault_name + ": " + server.name);
        return "";
    }
    const auto index = draw<size_t>(random_, 0, static_cast<size_t>(found.size()) - 1);
    return found[static_cast<int>(index)][0].c_str();
}

void Cluster::end_backend(const char* fault_name, int signal) {
    Server& server = any_primary().server;
    const std::string process = any_backend(fault_name, server, "true");
    if (process.empty()) return;
    fault(fault_name, server.name + " " + process);
    server.signal(std::stoi(process), signal);
}

void Cluster::cancel_backend() {
    // A row is not replicated if the wait of its commit is canceled, so `posts` is exempt.
    Server& server = any_primary().server;
    const char* const fault_name = "cancellation of a statement";
    const std::string process = any_backend(fault_name, server, "application_name <> 'posts'");
    if (process.empty()) return;
    fault(fault_name, server.name + " " + process);
    server.signal(std::stoi(process), SIGINT);
}

/// Stop a session, most often in the middle of a draw. It may never continue.
void Cluster::freeze_backend() {
    Server& server = any_primary().server;
    const char* const fault_name = "SIGSTOP of a backend";
    const std::string found = any_backend(fault_name, server, "wait_event IS NULL");
    if (found.empty()) return;
    fault(fault_name, server.name + " " + found);
    const pid_t process = std::stoi(found);
    server.signal(process, SIGSTOP);
    // Until the process continues, others may wait for a lock that it holds.
    (void)run_.pause(duration(0.05, 4));
    switch (draw(random_, 1, 8)) {
        case 1:
            fault("immediate shutdown", server.name);
            server.stop_immediately();
            break;
        case 2:
            fault("kill -9 of a backend", server.name + " " + found);
            server.signal(process, SIGKILL);
            break;
        case 3:
            fault("termination of a backend", server.name + " " + found);
            server.signal(process, SIGTERM);
            [[fallthrough]];
        default:
            server.signal(process, SIGCONT);
    }
}

void Cluster::slow_disk() {
    Server& server = any_primary().server;
    const std::chrono::microseconds delay{draw(random_, 2'000, 100'000)};
    fault("slow disk", server.name + " " + std::to_string(delay.count()) + " us per flush");
    server.slow_disk(delay);
    (void)run_.pause(duration(0.5, 4));
    server.slow_disk(std::chrono::microseconds{0});
}

void Cluster::recreate_extension() {
    const Primary primary = any_primary();
    const bool is_kept = chance(75);
    const OpenWindow window{run_, primary.lineage, Fault::extension};
    fault("DROP and CREATE EXTENSION", primary.server.name + (is_kept ? "" : ", rolled back"));
    try {
        primary.server.query("BEGIN; SET LOCAL lock_timeout = '5s';\n" +
                             recreate_objects(primary.server.number) +
                             (is_kept ? "; COMMIT" : "; ROLLBACK"));
    } catch (const pqxx::failure& error) {
        run_.say(name, std::string{"not done: "} + error.what());
    }
}

void Cluster::recreate_generator() {
    const Primary primary = any_primary();
    const std::vector<Generator> all = generators_of(primary.server.number);
    const Generator& generator = all[draw<size_t>(random_, 0, all.size() - 1)];
    const OpenWindow window{run_, primary.lineage, Fault::generators};
    fault("DROP and CREATE of a generator", primary.server.name + " " + generator.name);
    const std::string drop =
        std::string{"SELECT snowdrift.drop_generator('"} + generator.name + "');";
    const bool is_one_transaction = chance(50);
    try {
        primary.server.query("SET lock_timeout = '5s';" +
                             (is_one_transaction ? drop + generator.create : drop));
    } catch (const pqxx::failure& error) {
        run_.say(name, std::string{"not done: "} + error.what());
        return;
    }
    if (!is_one_transaction) primary.server.query(generator.create);
}

void Cluster::truncate_rows() {
    for (const Primary& primary : primaries()) {
        fault("TRUNCATE", primary.server.name);
        try {
            primary.server.query("SET lock_timeout = '2s'; TRUNCATE rows");
        } catch (const pqxx::failure& error) {
            run_.say(name, std::string{"not done: "} + error.what());
        }
    }
}

}  // namespace snowdrift::chaos
