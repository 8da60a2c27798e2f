// Base backups and point-in-time recovery.
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "chaos/cluster.hpp"

namespace snowdrift::chaos {

namespace fs = std::filesystem;
using std::chrono::seconds;

namespace {

fs::path archive_folder(const Server& server) { return server.folder() / "archive"; }

}  // namespace

std::string Archive::settings(const Server& server) {
    const std::string folder = archive_folder(server).string();
    // A recovery that reads ahead must not find a file that is still being written.
    return "archive_mode = on\narchive_command = 'test ! -e " + folder + "/on || { cp %p " +
           folder + "/next && mv " + folder + "/next " + folder + "/%f; }'";
}

std::string Archive::restore_command() const {
    return "restore_command = 'cp " + folder_.string() + "/%f %p'";
}

Archive::Archive(const Server& server) : folder_{archive_folder(server)} {
    fs::create_directories(folder_);
    std::ofstream{folder_ / "on"};
}

Archive::~Archive() {
    std::error_code ignored;  // a file may arrive at the same time
    fs::remove(folder_ / "on", ignored);
    fs::remove_all(folder_, ignored);
}

namespace {

/// Marks a point in the WAL for recovery, and waits until the WAL up to it is archived.
void create_restore_point(Server& server) {
    const std::string file =
        server.value("SELECT pg_walfile_name(pg_create_restore_point('chaos'))");
    server.query("SELECT pg_switch_wal()");
    if (!server.await("SELECT last_archived_wal >= '" + file + "' FROM pg_stat_archiver"))
        throw std::runtime_error{server.name + " does not archive its WAL"};
}

void roll_back_prepared(Server& server) {
    for (const auto& row : server.query("SELECT gid FROM pg_prepared_xacts"))
        server.query("ROLLBACK PREPARED '" + std::string{row[0].c_str()} + "'");
}

}  // namespace

bool Cluster::recover_copy(Server& source) {
    const unsigned number = next_server_number();
    if (number >= 512) return false;
    Server copy{run_, name + "_copy_" + std::to_string(number), number};
    fault(source.name + " as number " + std::to_string(number));
    const Archive archive{source};
    copy.clone(source);
    (void)run_.pause(duration(0.2, 2));
    create_restore_point(source);

    copy.configure_role({archive.restore_command(), "recovery_target_name = 'chaos'",
                         "recovery_target_action = promote",
                         "max_logical_replication_workers = 0"});
    copy.create_signal("recovery.signal");
    copy.set_clock(source.clock());
    copy.start();
    if (!copy.await("SELECT NOT pg_is_in_recovery()"))
        throw std::runtime_error{copy.name + " does not end its recovery"};

    // Their clients end them at the source. Here, they would hold locks.
    roll_back_prepared(copy);
    // The named generators still have the nodes of the source, so they are created again.
    std::string statements;
    for (const Generator& generator : generators_of(number))
        statements += std::string{"SELECT snowdrift.drop_generator('"} + generator.name +
                      "', force => true);\n" + generator.create;
    copy.query(statements);
    Endpoint endpoint{next_lineage()};
    endpoint.lead_to(copy.conninfo());
    {
        // The mark of the source may be ahead of the clock.
        const OpenWindow window{run_, endpoint.lineage, Fault::clock};
        Poller poller{run_, endpoint};  // from the beginning: see there
        std::vector<std::unique_ptr<Client>> clients;
        size_t i = 0;
        for (const char* const kind : {"block", "many", "functions", "feeds", "feeds"})
            clients.push_back(std::make_unique<Client>(run_, endpoint, kind, copy_clients_[i++]));
        (void)run_.pause(duration(0.5, 3));
        for (const auto& client : clients) client->stop();
        clients.clear();
        // IDs can be ahead of a clock that was set back, and the watermark follows the clock.
        copy.set_clock(latest_clock_);
        // The last transaction may have failed.
        roll_back_prepared(copy);
        const std::vector<std::string> misread = poller.end();
        misread_.insert(misread_.end(), misread.begin(), misread.end());
    }
    copy.stop_fast();
    for (const std::string& crash : copy.crashes()) run_.complain(name, crash);
    fs::remove_all(copy.data());
    return true;
}

}  // namespace snowdrift::chaos
