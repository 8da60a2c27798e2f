#include "chaos/link.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace snowdrift::chaos {
namespace {

constexpr size_t max_queued = size_t{1} << 20;

[[noreturn]] void fail(const char* what) {
    throw std::system_error{errno, std::generic_category(), what};
}

sockaddr_un address_of(const std::filesystem::path& socket) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    (void)std::strncpy(address.sun_path, socket.c_str(), sizeof address.sun_path - 1);
    return address;
}

const sockaddr* generic(const sockaddr_un& address) {
    return reinterpret_cast<const sockaddr*>(&address);
}

}  // namespace

Link::Link(std::filesystem::path folder)
    : folder_{std::move(folder)},
      listener_{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)} {
    std::filesystem::create_directories(folder_);
    const sockaddr_un address = address_of(folder_ / ".s.PGSQL.5432");
    if (listener_ < 0 || ::bind(listener_, generic(address), sizeof address) != 0 ||
        ::listen(listener_, 16) != 0)
        fail("link");
    thread_ = std::thread{[this] { work(); }};
}

Link::~Link() {
    is_ended_ = true;
    thread_.join();
    ::close(listener_);
}

std::string Link::conninfo() const {
    return "host=" + folder_.string() + " port=5432 user=postgres dbname=postgres";
}

void Link::lead_to(const std::filesystem::path& socket) {
    const std::lock_guard lock{mutex_};
    target_ = socket;
}

void Link::slow_down(std::chrono::milliseconds latency, size_t bytes_per_second) {
    latency_ms_ = latency.count();
    bytes_per_second_ = bytes_per_second;
}

void Link::accept_connection() {
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (client < 0) return;
    const int server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_un address = [this] {
        const std::lock_guard lock{mutex_};
        return address_of(target_);
    }();
    if (server < 0 || ::connect(server, generic(address), sizeof address) != 0) {
        ::close(client);
        if (server >= 0) ::close(server);
        return;
    }
    (void)::fcntl(server, F_SETFL, O_NONBLOCK);
    connections_.push_back({{client, server, {}, 0, {}}, {server, client, {}, 0, {}}});
}

/// Append what a flow waits for, and advance `wake` to its next chunk.
void Link::add_poll(std::vector<pollfd>& all, const Flow& flow, Clock::time_point& wake) const {
    if (flow.queued < max_queued) all.push_back({flow.from, POLLIN, 0});
    if (flow.chunks.empty()) return;
    const Clock::time_point due = flow.chunks.front().due;
    if (due <= Clock::now())
        all.push_back({flow.to, POLLOUT, 0});
    else
        wake = std::min(wake, due);
}

/// Queue what has arrived. Returns false at the end of the connection.
bool Link::receive(Flow& flow) {
    if (flow.queued >= max_queued) return true;
    std::array<char, 16384> buffer;
    const ssize_t size = ::recv(flow.from, buffer.data(), buffer.size(), 0);
    if (size < 0) return errno == EAGAIN || errno == EINTR;
    if (size == 0) return false;
    const std::chrono::milliseconds latency{latency_ms_.load()};
    Clock::time_point due = std::max(Clock::now() + latency, flow.last_due);
    if (const size_t rate = bytes_per_second_)
        due += std::chrono::microseconds{1'000'000 * static_cast<uint64_t>(size) / rate};
    flow.last_due = due;
    flow.queued += static_cast<size_t>(size);
    flow.chunks.push_back({due, {buffer.begin(), buffer.begin() + size}});
    return true;
}

/// Send what is due. Returns false at the end of the connection.
bool Link::send_due(Flow& flow) {
    while (!flow.chunks.empty() && flow.chunks.front().due <= Clock::now()) {
        Chunk& chunk = flow.chunks.front();
        const ssize_t size = ::send(flow.to, chunk.bytes.data() + chunk.sent,
                                    chunk.bytes.size() - chunk.sent, MSG_NOSIGNAL);
        if (size < 0) return errno == EAGAIN || errno == EINTR;
        chunk.sent += static_cast<size_t>(size);
        flow.queued -= static_cast<size_t>(size);
        if (chunk.sent == chunk.bytes.size()) flow.chunks.pop_front();
    }
    return true;
}

void Link::work() {
    while (!is_ended_) {
        std::vector<pollfd> all{{listener_, POLLIN, 0}};
        auto wake = Clock::now() + std::chrono::milliseconds{50};
        for (const Connection& connection : connections_) {
            add_poll(all, connection.request, wake);
            add_poll(all, connection.reply, wake);
        }
        const auto wait = std::chrono::ceil<std::chrono::milliseconds>(wake - Clock::now());
        (void)::poll(all.data(), all.size(), std::max(0, static_cast<int>(wait.count())));
        accept_connection();
        const bool is_cut = is_cut_.exchange(false);
        for (Connection& connection : connections_) {
            Flow& request = connection.request;
            Flow& reply = connection.reply;
            connection.is_open = !is_cut && receive(request) && receive(reply) &&
                                 send_due(request) && send_due(reply);
            if (connection.is_open) continue;
            ::close(request.from);
            ::close(request.to);
        }
        connections_.remove_if([](const Connection& connection) { return !connection.is_open; });
    }
    for (const Connection& connection : connections_) {
        ::close(connection.request.from);
        ::close(connection.request.to);
    }
}

}  // namespace snowdrift::chaos
