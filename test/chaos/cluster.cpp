#include "chaos/cluster.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

#include "chaos/checker.hpp"

namespace snowdrift::chaos {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string in_seconds(double value) {
    std::array<char, 32> text{};
    (void)std::snprintf(text.data(), text.size(), "%+.3f s", value);
    return text.data();
}

}  // namespace

uint32_t next_client() {
    static std::atomic<uint32_t> last{0};
    return ++last;
}

unsigned next_lineage() {
    static std::atomic<unsigned> next{0};
    return next++;
}

unsigned next_server_number() {
    static std::atomic<unsigned> last{0};
    return ++last;
}

Cluster::Cluster(Run& run, std::string cluster_name)
    : name{std::move(cluster_name)}, run_{run}, random_{run.random(name)} {}

Cluster::~Cluster() {
    is_ended_ = true;
    if (clock_.joinable()) clock_.join();
    servers_.clear();  // their clients' calls fail
    clients_.clear();
    pollers_.clear();
}

Server& Cluster::add_server(const std::string& server_name, unsigned number) {
    return *servers_.emplace_back(std::make_unique<Server>(run_, server_name, number));
}

Endpoint& Cluster::add_endpoint() { return endpoints_.emplace_back(next_lineage()); }

void Cluster::add_clients(const Endpoint& endpoint, const std::vector<std::string>& kinds) {
    for (const std::string& kind : kinds)
        clients_.push_back(std::make_unique<Client>(run_, endpoint, kind, next_client()));
    if (std::find(kinds.begin(), kinds.end(), "feeds") != kinds.end())
        pollers_.push_back(std::make_unique<Poller>(run_, endpoint));
}

void Cluster::add_poller(const Endpoint& endpoint, const Endpoint& standby) {
    pollers_.push_back(std::make_unique<Poller>(run_, endpoint, &standby));
}

std::vector<Server*> Cluster::servers() const {
    std::vector<Server*> all;
    for (const auto& server : servers_) all.push_back(server.get());
    return all;
}

milliseconds Cluster::duration(double least_seconds, double greatest_seconds) {
    const double logarithm = draw(random_, std::log(least_seconds), std::log(greatest_seconds));
    return milliseconds{std::lround(1000 * std::exp(logarithm))};
}

void Cluster::further_fault(const char* fault_name, const std::string& detail) {
    run_.count_fault(name, fault_name, detail);
}

/// Opens the windows of a fault for all endpoints.
std::list<OpenWindow> Cluster::open_windows(Fault fault) {
    std::list<OpenWindow> windows;
    for (const Endpoint& endpoint : endpoints_) windows.emplace_back(run_, endpoint.lineage, fault);
    return windows;
}

// ---- the nemesis

void Cluster::torment(Time end, Time latest_end) {
    windows_ = open_windows(Fault::any);
    clock_ = std::thread{[this] { step_clocks(); }};
    std::vector<Action> all = actions();
    std::shuffle(all.begin(), all.end(), random_);
    std::vector<int> weights;
    for (const Action& action : all) {
        weights.push_back(action.weight);
        missing_.insert(action.name);
    }
    std::discrete_distribution<size_t> distribution{weights.begin(), weights.end()};
    for (size_t step = 0; run_.now() < (missing_.empty() ? end : latest_end); ++step) {
        // How many random numbers a step uses depends on what it finds, so each step has its own
        // series.
        random_ = run_.random(name + " " + std::to_string(step));
        if (!run_.pause(duration(0.1, 3))) break;
        // Every second step injects the next kind of fault, so that none is missing for long. After
        // `end`, each step injects a missing one.
        const size_t random_index = distribution(random_);
        size_t index = step % 2 == 0 ? random_index : step / 2 % all.size();
        if (run_.now() >= end && !missing_.empty())
            while (!missing_.contains(all[index].name)) index = (index + 1) % all.size();
        const Action& action = all[index];
        action_ = action.name;
        attempt([&] {
            if (action.act()) missing_.erase(action.name);
        });
        attempt([this] { repair(); });
    }
    is_ended_ = true;
    clock_.join();
}

/// Call a function; an exception is a problem of the run.
void Cluster::attempt(const std::function<void()>& act) {
    try {
        act();
    } catch (const pqxx::sql_error& error) {
        run_.complain(name, std::string{action_} + ": " + error.what() + " in: " + error.query());
    } catch (const std::exception& error) {
        run_.complain(name, std::string{action_} + ": " + error.what());
    }
}

void Cluster::heal() {
    action_ = "end of the faults";
    attempt([this] {
        for (Server* const server : servers()) server->slow_disk(std::chrono::microseconds{0});
        repair();
        correct_clocks();
    });
    windows_.clear();
    healed_ = run_.now();
    run_.say(name, "all faults have ended");
}

// ---- the clocks

void Cluster::step_clocks() {
    std::mt19937_64 random = run_.random(name + " clocks");
    while (!is_ended_ && !interrupted) {
        // The true time of a cluster is the latest that a clock has shown. A step ahead is
        // therefore followed by a correction that sets all other clocks ahead, and calls for sno
        // values do not wait long.
        if (clocks_.empty()) clocks_ = open_windows(Fault::clock);
        const size_t which = draw<size_t>(random, 0, servers_.size() - 1);
        const double size = std::exp(draw(random, std::log(0.01), std::log(longest_clock_step_s)));
        const double step = draw(random, 0, 1) == 0 ? size : -size;
        Server& server = *servers_[which];
        server.set_clock(true_clock_ + step);
        latest_clock_ = std::max(latest_clock_.load(), true_clock_ + step);
        run_.count_fault(name, "clock step", server.name + " " + in_seconds(step));
        (void)run_.pause(milliseconds{draw(random, 200, 3000)});
        if (draw(random, 1, 3) > 1) continue;
        correct_clocks();
        (void)run_.pause(milliseconds{draw(random, 500, 5000)});
    }
}

void Cluster::correct_clocks() {
    true_clock_ = latest_clock_;
    for (Server* const server : servers()) server->set_clock(true_clock_);
    clocks_.clear();
    run_.say(name, "all clocks show " + in_seconds(true_clock_));
}

// ---- the end

std::vector<std::string> Cluster::end_clients() {
    const auto has_waiting = [this] {
        return std::any_of(clients_.begin(), clients_.end(),
                           [this](const auto& client) { return client->last_success() < healed_; });
    };
    const Time patience = run_.now() + Time{60} * 1'000'000'000;
    while (has_waiting() && run_.now() < patience && run_.pause(milliseconds{50})) {
    }
    std::vector<std::string> stuck;
    for (const auto& client : clients_)
        if (client->last_success() < healed_)
            stuck.push_back(name + ": " + client->name +
                            " draws no more IDs: " + client->last_error());
    for (const auto& client : clients_) client->stop();
    clients_.clear();
    return stuck;
}

std::vector<std::string> Cluster::misread_rows() {
    for (const auto& poller : pollers_) {
        const std::vector<std::string> of_poller = poller->end();
        misread_.insert(misread_.end(), of_poller.begin(), of_poller.end());
    }
    pollers_.clear();
    return misread_;
}

std::vector<std::string> Cluster::missing_faults() {
    std::vector<std::string> found;
    for (const std::string& fault : missing_) found.push_back(name + ": " + fault);
    return found;
}

std::vector<std::string> Cluster::leftovers() {
    std::vector<std::string> found;
    for (const Primary& primary : primaries()) {
        const std::string sessions =
            "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'"
            " AND pid <> pg_backend_pid()";
        for (const auto& [what, statement] : std::map<std::string, std::string>{
                 {"sessions", "SELECT count(*) FROM (" + sessions + ") AS s"},
                 {"locks", "SELECT count(*) FROM pg_locks WHERE pid IN (" + sessions +
                               ") OR (pid IS NULL AND locktype <> 'virtualxid')"},
                 {"waiting calls", "SELECT coalesce(sum(waiting), 0) FROM snowdrift.generators"},
                 {"overflow episodes",
                  "SELECT count(*) FROM snowdrift.generators WHERE overflow_duration > '0'"},
             }) {
            if (primary.server.await("SELECT (" + statement + ") = 0", seconds{20})) continue;
            found.push_back(primary.server.name + ": " + what + ": " +
                            primary.server.value(statement));
        }
    }
    return found;
}

void Cluster::shut_down() {
    for (Server* const server : servers()) attempt([=] { server->stop_fast(); });
}

std::vector<std::string> Cluster::crashes() {
    std::vector<std::string> found;
    for (Server* const server : servers()) {
        const std::vector<std::string> of_server = server->crashes();
        found.insert(found.end(), of_server.begin(), of_server.end());
    }
    return found;
}

std::vector<std::string> Cluster::describe_lost(Server& server, unsigned lineage) {
    // In an hour, a seal gets hundreds of keys, and each unsealed ID can try all of them.
    const auto query_all = [&](const std::string& statement) {
        return server.query(statement, seconds{60}, std::chrono::minutes{30});
    };
    std::vector<Id> stored;
    for (const auto& row : query_all("SELECT id FROM posts"))
        stored.push_back(*parse_id(Format::snowflake, row[0].c_str()));
    std::vector<std::string> described;
    for (const Id& id : find_lost(run_.paths.history(), lineage, std::move(stored)))
        described.push_back(server.name + " has no row with ID " + std::to_string(id.low));
    for (const auto& row : query_all(
             "SELECT id, sealed FROM posts WHERE server = " + std::to_string(server.number) +
             " AND snowflake_unseal(sealed, 'posts', invalid_ok => true) IS DISTINCT FROM id"))
        described.push_back(server.name + " does not unseal ID " + row[0].c_str() + ", " +
                            row[1].c_str());
    return described;
}

}  // namespace snowdrift::chaos
