// A primary with a synchronous and an asynchronous standby, which change their roles.
#include <array>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "chaos/cluster.hpp"
#include "chaos/link.hpp"
#include "chaos/process.hpp"

namespace snowdrift::chaos {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

class Replicas : public Cluster {
 public:
    explicit Replicas(Run& run);

    void set_up() override;
    std::vector<std::string> lost_rows() override;

 private:
    /// A server, and the link through which it follows the primary.
    struct Member {
        Server& server;
        Link link;
    };

    std::vector<Action> actions() override;
    void repair() override;
    std::vector<Primary> primaries() override { return {{primary_->server, endpoint_.lineage}}; }

    void configure();
    void lead_links();
    void follow(Member& standby);
    void clone(Member& standby);
    bool is_streaming(const Member& standby, seconds patience);
    void promote(Member& standby);

    bool fail_over();
    bool switch_over();
    bool restore_from_archive();
    bool crash_standby();
    bool freeze_standby();
    bool slow_network();

    Endpoint& endpoint_ = add_endpoint();
    Endpoint standby_{endpoint_.lineage};  ///< where a poller reads: the asynchronous one
    std::array<Member, 3> members_;
    Member* primary_ = &members_[0];
    Member* synchronous_ = &members_[1];
    Member* asynchronous_ = &members_[2];
};

Replicas::Replicas(Run& run)
    : Cluster{run, "replicas"},
      members_{Member{add_server("replica_1", 0), Link{run.paths.work / "link_1"}},
               Member{add_server("replica_2", 0), Link{run.paths.work / "link_2"}},
               Member{add_server("replica_3", 0), Link{run.paths.work / "link_3"}}} {}

void Replicas::set_up() {
    primary_->server.init();
    primary_->server.configure_role({Archive::settings(primary_->server)});
    primary_->server.start();
    primary_->server.query(create_objects(primary_->server.number));
    lead_links();
    clone(*synchronous_);
    clone(*asynchronous_);
    // From here on, no ID leaves the primary that the synchronous standby's mark does not cover.
    primary_->server.stop_fast();
    configure();
    repair();
    endpoint_.lead_to(primary_->server.conninfo());
    add_clients(endpoint_,
                {"posts", "block", "many", "copy from", "copy to", "prepared", "read only",
                 "functions", "savepoints", "asynchronous", "overflow", "feeds", "feeds", "feeds"});
    add_poller(endpoint_, standby_);
}

// ---- roles

/// Write the roles into the configurations, and lead the poller to the asynchronous standby. The
/// synchronous standby's configuration also names the server that becomes its standby when it is
/// promoted, so that it never issues IDs alone.
void Replicas::configure() {
    standby_.lead_to(asynchronous_->server.conninfo());
    for (Member& member : members_) {
        const Member& standby = &member == primary_ ? *synchronous_ : *primary_;
        member.server.configure_role({Archive::settings(member.server),
                                      "synchronous_standby_names = '" + standby.server.name + "'",
                                      "primary_conninfo = '" + member.link.conninfo() +
                                          " application_name=" + member.server.name + "'"});
    }
}

void Replicas::lead_links() {
    for (Member& member : members_) {
        member.link.lead_to(primary_->server.socket());
        member.link.cut();
    }
}

bool Replicas::is_streaming(const Member& standby, seconds patience) {
    const std::string state = &standby == synchronous_ ? "sync" : "async";
    return primary_->server.await(
        "SELECT count(*) = 1 FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = "
        "'" +
            state + "' AND application_name = '" + standby.server.name + "'",
        patience);
}

/// Start a standby. If it cannot continue from where it is, make it a new copy of the primary.
void Replicas::follow(Member& standby) {
    standby.server.create_signal("standby.signal");
    standby.server.start();
    if (is_streaming(standby, seconds{15})) return;
    run_.say(name, standby.server.name + " cannot follow and is cloned");
    clone(standby);
    if (!is_streaming(standby, seconds{60}))
        throw std::runtime_error{standby.server.name + " does not follow the primary"};
}

void Replicas::clone(Member& standby) {
    standby.server.stop_immediately();
    standby.server.clone(primary_->server);
    standby.server.create_signal("standby.signal");
    configure();
    standby.server.start();
}

void Replicas::repair() {
    primary_->server.start();
    for (Member* const standby : {synchronous_, asynchronous_})
        if (!standby->server.is_running() || !is_streaming(*standby, seconds{0})) follow(*standby);
}

// ---- faults

std::vector<Cluster::Action> Replicas::actions() {
    std::vector<Action> all = common_actions();
    all.insert(all.end(),
               {
                   {"failover and pg_rewind", 8, [this] { return fail_over(); }},
                   {"switchover to the asynchronous standby", 3, [this] { return switch_over(); }},
                   {"recovery from the archive", 1, [this] { return restore_from_archive(); }},
                   {"kill -9 of a standby", 6, [this] { return crash_standby(); }},
                   {"SIGSTOP of a standby's WAL receiver", 5, [this] { return freeze_standby(); }},
                   {"slow network to a standby", 8, [this] { return slow_network(); }},
                   {"point-in-time recovery of a copy", 2,
                    [this] { return recover_copy(primary_->server); }},
               });
    return all;
}

/// Promote a standby in place of the primary, which is down.
void Replicas::promote(Member& standby) {
    standby.server.query("SELECT pg_promote()");
    if (!standby.server.await("SELECT NOT pg_is_in_recovery()"))
        throw std::runtime_error{standby.server.name + " is not promoted"};
    endpoint_.lead_to(standby.server.conninfo());
}

/// The primary crashes, and the synchronous standby takes over. The old primary is rewound and
/// becomes the synchronous standby, and the other standby is cloned.
bool Replicas::fail_over() {
    const OpenWindow window{run_, endpoint_.lineage, Fault::recovery};
    Member& old = *primary_;
    Member& next = *synchronous_;
    const bool is_killed = chance(50);
    fault(old.server.name + (is_killed ? " is killed" : " is shut down immediately") + ", " +
          next.server.name + " is promoted");
    if (is_killed)
        old.server.power_off();
    else
        old.server.stop_immediately();
    asynchronous_->server.stop_immediately();
    promote(next);
    primary_ = &next;
    synchronous_ = &old;
    configure();
    lead_links();
    // Until this checkpoint, pg_rewind can find the timeline from before the promotion.
    next.server.query("CHECKPOINT");
    const int status =
        execute({run_.paths.bindir / "pg_rewind", "-D", old.server.data(), "--source-server",
                 next.server.conninfo(), "--config-file", old.server.config(), "--no-sync"},
                old.server.log());
    if (status == 0) {
        further_fault("pg_rewind", old.server.name);
        follow(old);
    } else {
        run_.say(name, "pg_rewind failed, so " + old.server.name + " is cloned");
        clone(old);
    }
    clone(*asynchronous_);
    return status == 0;
}

/// The primary is shut down, and the asynchronous standby takes over if it has received everything.
bool Replicas::switch_over() {
    const OpenWindow window{run_, endpoint_.lineage, Fault::recovery};
    Member& old = *primary_;
    Member& next = *asynchronous_;
    old.server.stop_fast();
    const std::string last = old.server.control_data("Latest checkpoint location");
    const bool has_everything =
        next.server.await("SELECT pg_last_wal_replay_lsn() > pg_lsn '" + last + "'", seconds{5});
    if (!has_everything) {
        run_.say(name, next.server.name + " has not received everything and is not promoted");
        return false;
    }
    fault(next.server.name);
    // Its first IDs must not leave it before the synchronous standby follows.
    promote(next);
    primary_ = &next;
    asynchronous_ = &old;
    configure();
    lead_links();
    next.server.query("CHECKPOINT");
    return true;
}

/// The primary is shut down and replaced by its base backup, recovered from the archive up to the
/// shutdown.
bool Replicas::restore_from_archive() {
    const OpenWindow window{run_, endpoint_.lineage, Fault::recovery};
    Server& server = primary_->server;
    const Archive archive{server};
    asynchronous_->server.stop_immediately();
    asynchronous_->server.clone(server);
    (void)run_.pause(duration(0.2, 2));
    server.stop_fast();
    for (const auto& file : fs::directory_iterator{server.data() / "pg_wal/archive_status"})
        if (file.path().extension() == ".ready") {
            run_.say(name, "a WAL file is not archived, so nothing is restored");
            return false;
        }
    fault(asynchronous_->server.name + " replaces " + server.name);
    std::swap(primary_, asynchronous_);
    Server& restored = primary_->server;
    configure();
    restored.configure_role({Archive::settings(restored), archive.restore_command(),
                             "synchronous_standby_names = '" + synchronous_->server.name + "'"});
    restored.create_signal("recovery.signal");
    restored.start();
    if (!restored.await("SELECT NOT pg_is_in_recovery()"))
        throw std::runtime_error{restored.name + " does not end its recovery"};
    endpoint_.lead_to(restored.conninfo());
    configure();
    lead_links();
    restored.query("CHECKPOINT");
    clone(*synchronous_);
    clone(*asynchronous_);
    return true;
}

bool Replicas::crash_standby() {
    Server& server = (chance(50) ? synchronous_ : asynchronous_)->server;
    fault(server.name);
    server.power_off();
    (void)run_.pause(duration(0.1, 2));
    return true;
}

/// Stop the process that receives the WAL, or all processes of a standby.
bool Replicas::freeze_standby() {
    Server& server = (chance(50) ? synchronous_ : asynchronous_)->server;
    const std::string receiver = server.value("SELECT pid FROM pg_stat_wal_receiver");
    if (receiver.empty()) return false;
    fault(server.name);
    server.signal(std::stoi(receiver), SIGSTOP);
    (void)run_.pause(duration(0.2, 4));
    server.signal(std::stoi(receiver), SIGCONT);
    return true;
}

bool Replicas::slow_network() {
    Member& member = chance(60) ? *synchronous_ : *asynchronous_;
    const milliseconds latency{draw(random_, 1, 300)};
    const size_t rate = chance(50) ? 0 : draw<size_t>(random_, 50'000, 2'000'000);
    fault(member.server.name + " " + std::to_string(latency.count()) + " ms" +
          (rate == 0 ? "" : ", " + std::to_string(rate / 1000) + " kB/s"));
    member.link.slow_down(latency, rate);
    (void)run_.pause(duration(0.5, 5));
    if (chance(20)) {
        further_fault("network to a standby cut", member.server.name);
        member.link.cut();
    }
    member.link.slow_down(milliseconds{0}, 0);
    return true;
}

// ---- the end

std::vector<std::string> Replicas::lost_rows() {
    std::vector<std::string> lost;
    for (Member& member : members_) {
        if (&member != primary_) {
            const std::string position =
                primary_->server.value("SELECT pg_current_wal_flush_lsn()");
            if (!member.server.await("SELECT pg_last_wal_replay_lsn() >= pg_lsn '" + position +
                                     "'"))
                lost.push_back(member.server.name + " does not catch up");
        }
        const auto of_member = describe_lost(member.server, endpoint_.lineage);
        lost.insert(lost.end(), of_member.begin(), of_member.end());
    }
    return lost;
}

}  // namespace

std::unique_ptr<Cluster> make_replicas(Run& run) { return std::make_unique<Replicas>(run); }

}  // namespace snowdrift::chaos
