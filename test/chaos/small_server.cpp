// A server whose WAL is on a small disk that fills up.
#include <filesystem>
#include <fstream>
#include <vector>

#include "chaos/cluster.hpp"

namespace snowdrift::chaos {
namespace {

namespace fs = std::filesystem;

class SmallServer : public Cluster {
 public:
    explicit SmallServer(Run& run)
        : Cluster{run, "small"},
          server_{add_server("small", next_server_number())},
          endpoint_{add_endpoint()} {}

    void set_up() override;
    std::vector<std::string> lost_rows() override {
        return describe_lost(server_, endpoint_.lineage);
    }
    std::vector<std::string> crashes() override { return server_.crashes(true); }

 private:
    std::vector<Action> actions() override;
    void repair() override;
    std::vector<Primary> primaries() override { return {{server_, endpoint_.lineage}}; }

    bool fill_disk();
    fs::path filler() const { return run_.paths.small_disk / "full"; }

    Server& server_;
    Endpoint& endpoint_;
};

void SmallServer::set_up() {
    fs::remove_all(run_.paths.small_disk / "wal");
    server_.init({"--waldir", run_.paths.small_disk / "wal", "--wal-segsize", "1"});
    server_.configure_role({"min_wal_size = 2MB", "max_wal_size = 8MB", "wal_keep_size = 0"});
    server_.start();
    server_.query(create_objects(server_.number));
    endpoint_.lead_to(server_.conninfo());
    add_clients(endpoint_,
                {"posts", "block", "functions", "asynchronous", "feeds", "feeds", "feeds"});
}

void SmallServer::repair() {
    fs::remove(filler());
    server_.start();
}

std::vector<Cluster::Action> SmallServer::actions() {
    std::vector<Action> all = common_actions();
    all.push_back({"full disk", 40, [this] { return fill_disk(); }});
    return all;
}

bool SmallServer::fill_disk() {
    const OpenWindow window{run_, endpoint_.lineage, Fault::full_disk};
    fault();
    {
        std::ofstream file{filler(), std::ios::binary};
        const std::vector<char> block(65536);
        while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
        }
    }
    (void)run_.pause(duration(0.5, 6));
    repair();
    return true;
}

}  // namespace

std::unique_ptr<Cluster> make_small_server(Run& run) { return std::make_unique<SmallServer>(run); }

}  // namespace snowdrift::chaos
