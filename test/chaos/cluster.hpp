// Servers that belong together, their clients, and their nemesis: an actor that injects one random
// fault after another. This file has the faults that any server can have; the subclasses have
// further ones.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "chaos/client.hpp"
#include "chaos/poller.hpp"
#include "chaos/run.hpp"
#include "chaos/server.hpp"

namespace snowdrift::chaos {

/// A number for a new client, a new lineage, and a new server. Numbers of servers are below 512.
uint32_t next_client();
unsigned next_lineage();
unsigned next_server_number();

/// A server archives its WAL while this exists.
class Archive {
 public:
    /// The configuration that a server needs for it.
    static std::string settings(const Server& server);

    explicit Archive(const Server& server);
    ~Archive();
    Archive(const Archive&) = delete;
    Archive& operator=(const Archive&) = delete;

    /// The configuration of a server that is recovered from it.
    std::string restore_command() const;

 private:
    std::filesystem::path folder_;
};

class Cluster {
 public:
    Cluster(Run& run, std::string name);
    virtual ~Cluster();
    Cluster(const Cluster&) = delete;
    Cluster& operator=(const Cluster&) = delete;

    const std::string name;

    /// Starts the servers.
    virtual void set_up() = 0;
    /// Injects random faults until `end`, and until each kind has occurred, but not after
    /// `latest_end`.
    void torment(Time end, Time latest_end);
    /// Ends all faults: all servers run, their clocks agree, and standbys follow.
    void heal();
    /// Waits until all clients have received IDs after heal(), and ends them. Returns those that
    /// have not, with their last errors.
    std::vector<std::string> end_clients();
    /// Ends the pollers after that. Returns the rows that they have misread.
    std::vector<std::string> misread_rows();
    /// The kinds of faults that have not occurred.
    std::vector<std::string> missing_faults();
    /// What is left in the servers' memory after that: waiting calls, locks.
    std::vector<std::string> leftovers();
    /// Rows whose commit was confirmed, but which a server does not have.
    virtual std::vector<std::string> lost_rows() = 0;
    /// Stops the servers.
    void shut_down();
    /// Crashes in the servers' logs that no fault explains, and collisions of replicated rows.
    virtual std::vector<std::string> crashes();

 protected:
    /// A kind of fault.
    struct Action {
        const char* name;
        int weight;
        std::function<bool()> act;  ///< returns false if it could not be done
    };

    Server& add_server(const std::string& server_name, unsigned number);
    /// Where the clients of a new lineage draw IDs.
    Endpoint& add_endpoint();
    /// Starts clients of these kinds; those of the kind "feeds" with a poller.
    void add_clients(const Endpoint& endpoint, const std::vector<std::string>& kinds);
    /// Starts a poller of the feeds of an endpoint that reads only from a standby.
    void add_poller(const Endpoint& endpoint, const Endpoint& standby);
    /// Prints and counts the current fault.
    void fault(const std::string& detail = "") { further_fault(action_, detail); }
    /// Prints and counts another fault that is part of the current one.
    void further_fault(const char* fault_name, const std::string& detail);

    /// The faults of a cluster, which torment() chooses at random, by their weights.
    virtual std::vector<Action> actions() = 0;
    /// Makes all servers run that should, after a fault.
    virtual void repair() = 0;
    /// The servers that issue IDs, with their lineages.
    struct Primary {
        Server& server;
        unsigned lineage;
    };
    virtual std::vector<Primary> primaries() = 0;

    /// The faults of any primary, in faults.cpp
    std::vector<Action> common_actions();
    Primary any_primary();
    bool end_backend(int signal);
    bool cancel_backend();
    bool freeze_backend();
    bool crash(void (Server::*stop)());
    bool recreate_extension();
    bool recreate_generator();
    bool truncate_rows();
    bool slow_disk();
    bool rotate_seal();

    /// Restores a base backup of the server, up to a moment under load, as a separate server with
    /// another number. Draws IDs from that server, and removes it.
    bool recover_copy(Server& source);

    /// The rows in `posts` that clients of a lineage have inserted, and that a server does not
    /// have, or whose IDs it does not get when it unseals those that it has sealed.
    std::vector<std::string> describe_lost(Server& server, unsigned lineage);

    std::vector<Server*> servers() const;
    bool chance(unsigned percent) { return draw(random_, 1U, 100U) <= percent; }
    /// A random duration; short ones are more frequent.
    std::chrono::milliseconds duration(double least_seconds, double greatest_seconds);

    Run& run_;
    std::mt19937_64 random_;

 private:
    void attempt(const std::function<void()>& act);
    void step_clocks();
    void correct_clocks();
    std::list<OpenWindow> open_windows(Fault fault);
    std::string any_backend(Server& server, const std::string& condition);
    bool try_statements(Server& server, const std::string& statements);

    const std::array<uint32_t, 5> copy_clients_{next_client(), next_client(), next_client(),
                                                next_client(), next_client()};
    std::list<Endpoint> endpoints_;
    std::vector<std::unique_ptr<Server>> servers_;
    std::vector<std::unique_ptr<Client>> clients_;
    std::vector<std::unique_ptr<Poller>> pollers_;
    std::vector<std::string> misread_;  ///< by pollers that have ended
    const char* action_ = "";           ///< the name of the current fault
    std::set<std::string> missing_;     ///< see missing_faults()
    std::list<OpenWindow> windows_;     ///< open while faults are injected
    std::list<OpenWindow> clocks_;      ///< open while the clocks differ
    Time healed_ = 0;
    double true_clock_ = 0;  ///< what all clocks showed after they were last corrected
    std::atomic<double> latest_clock_ = 0;  ///< the latest that any clock has shown
    std::atomic<bool> is_ended_{false};
    std::thread clock_;
};

/// The clusters of a run.
std::unique_ptr<Cluster> make_replicas(Run& run);
std::unique_ptr<Cluster> make_writers(Run& run);
std::unique_ptr<Cluster> make_small_server(Run& run);

}  // namespace snowdrift::chaos
