// Ends a session whose step takes too long, so that no client waits forever. After the faults, this
// is a problem.
//
// statement_timeout would not do: a step of the server's clock ends or extends it.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "chaos/run.hpp"

namespace snowdrift::chaos {

class SessionGuard {
 public:
    SessionGuard(Run& run, unsigned lineage);
    ~SessionGuard();
    SessionGuard(const SessionGuard&) = delete;
    SessionGuard& operator=(const SessionGuard&) = delete;

    /// A step of the session of this process begins.
    void begin(pid_t process);

    /// The session's process may end from now on.
    void disconnect() { begin(0); }

 private:
    void work();

    Run& run_;
    const unsigned lineage_;
    std::mutex mutex_;
    pid_t process_ = 0;
    Time begin_ = 0;
    std::atomic<bool> is_ended_{false};
    std::thread thread_;
};

}  // namespace snowdrift::chaos
