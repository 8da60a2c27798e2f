// A slow network between two servers: a relay between a Unix socket of its own and that of a
// server.
#pragma once

#include <poll.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <filesystem>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace snowdrift::chaos {

class Link {
 public:
    /// Listens in `folder`, which it creates. Throws if it cannot.
    explicit Link(std::filesystem::path folder);
    ~Link();
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    /// The start of a connection string that leads through the link.
    std::string conninfo() const;

    /// Further connections lead to the server with this socket.
    void lead_to(const std::filesystem::path& socket);

    /// All data arrives later by `latency`, and at most `bytes_per_second` of it; 0 is no limit.
    void slow_down(std::chrono::milliseconds latency, size_t bytes_per_second);

    /// Closes all connections.
    void cut() { is_cut_ = true; }

 private:
    using Clock = std::chrono::steady_clock;

    struct Chunk {
        Clock::time_point due;
        std::vector<char> bytes;
        size_t sent = 0;
    };
    /// One direction of a connection.
    struct Flow {
        int from;
        int to;
        std::deque<Chunk> chunks;
        size_t queued = 0;
        Clock::time_point last_due;
    };
    struct Connection {
        Flow request;
        Flow reply;
        bool is_open = true;
    };

    void work();
    void accept_connection();
    void add_poll(std::vector<pollfd>& all, const Flow& flow, Clock::time_point& wake) const;
    bool receive(Flow& flow);
    static bool send_due(Flow& flow);

    std::filesystem::path folder_;
    int listener_;
    std::mutex mutex_;
    std::filesystem::path target_;
    std::atomic<int64_t> latency_ms_{0};
    std::atomic<size_t> bytes_per_second_{0};
    std::atomic<bool> is_cut_{false};
    std::atomic<bool> is_ended_{false};
    std::list<Connection> connections_;  // of the thread only
    std::thread thread_;
};

}  // namespace snowdrift::chaos
