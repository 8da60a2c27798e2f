// Two primaries with numbers of their own that replicate their rows to each other.
#include <array>
#include <chrono>
#include <stdexcept>

#include "chaos/cluster.hpp"
#include "chaos/link.hpp"

namespace snowdrift::chaos {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class Writers : public Cluster {
 public:
    explicit Writers(Run& run);

    void set_up() override;
    std::vector<std::string> lost_rows() override;

 private:
    /// A server, where its clients draw, and the link that leads to it.
    struct Member {
        Server& server;
        Endpoint& endpoint;
        Link link;
    };

    std::vector<Action> actions() override;
    void repair() override;
    std::vector<Primary> primaries() override;

    static std::string publish(const Server& server);
    static std::string subscribe(const Member& publisher);
    bool slow_network();

    std::array<Member, 2> members_;
};

Writers::Writers(Run& run)
    : Cluster{run, "writers"},
      members_{Member{add_server("writer_1", next_server_number()), add_endpoint(),
                      Link{run.paths.work / "to_writer_1"}},
               Member{add_server("writer_2", next_server_number()), add_endpoint(),
                      Link{run.paths.work / "to_writer_2"}}} {}

std::string Writers::publish(const Server& server) {
    return "CREATE PUBLICATION posts FOR TABLE posts WHERE (server = " +
           std::to_string(server.number) + ") WITH (publish = 'insert')";
}

std::string Writers::subscribe(const Member& publisher) {
    return "CREATE SUBSCRIPTION from_" + publisher.server.name + " CONNECTION '" +
           publisher.link.conninfo() + "' PUBLICATION posts WITH (copy_data = false)";
}

void Writers::set_up() {
    for (Member& member : members_) {
        member.server.init();
        member.server.configure_role({Archive::settings(member.server)});
        member.server.start();
        member.server.query(create_objects(member.server.number));
        member.server.query(publish(member.server));
        member.link.lead_to(member.server.socket());
        member.endpoint.lead_to(member.server.conninfo());
    }
    members_[0].server.query(subscribe(members_[1]));
    members_[1].server.query(subscribe(members_[0]));
    for (Member& member : members_)
        add_clients(member.endpoint, {"posts", "block", "copy to", "functions", "savepoints",
                                      "feeds", "feeds", "feeds"});
}

std::vector<Cluster::Primary> Writers::primaries() {
    std::vector<Primary> all;
    for (Member& member : members_) all.push_back({member.server, member.endpoint.lineage});
    return all;
}

void Writers::repair() {
    for (Member& member : members_) member.server.start();
}

std::vector<Cluster::Action> Writers::actions() {
    std::vector<Action> all = common_actions();
    all.push_back({"slow network to a writer", 8, [this] { return slow_network(); }});
    all.push_back({"point-in-time recovery of a copy", 2,
                   [this] { return recover_copy(any_primary().server); }});
    return all;
}

bool Writers::slow_network() {
    Member& member = members_[draw<size_t>(random_, 0, 1)];
    const milliseconds latency{draw(random_, 1, 500)};
    fault(member.server.name + " " + std::to_string(latency.count()) + " ms");
    member.link.slow_down(latency, 0);
    (void)run_.pause(duration(0.5, 5));
    if (chance(50)) {
        further_fault("network to a writer cut", member.server.name);
        member.link.cut();
    }
    member.link.slow_down(milliseconds{0}, 0);
    return true;
}

/// Both servers have the rows of both.
std::vector<std::string> Writers::lost_rows() {
    std::vector<std::string> lost;
    for (Member& publisher : members_) {
        const std::string position = publisher.server.value("SELECT pg_current_wal_flush_lsn()");
        if (!publisher.server.await("SELECT bool_and(confirmed_flush_lsn >= pg_lsn '" + position +
                                        "') FROM pg_replication_slots",
                                    seconds{120}))
            lost.push_back("the subscriber of " + publisher.server.name + " does not catch up");
        for (Member& member : members_) {
            const auto of_member = describe_lost(member.server, publisher.endpoint.lineage);
            lost.insert(lost.end(), of_member.begin(), of_member.end());
        }
    }
    return lost;
}

}  // namespace

std::unique_ptr<Cluster> make_writers(Run& run) { return std::make_unique<Writers>(run); }

}  // namespace snowdrift::chaos
