#include "chaos/session_guard.hpp"

#include <chrono>
#include <csignal>
#include <string>

namespace snowdrift::chaos {
namespace {

constexpr Time longest_step = Time{20} * 1'000'000'000;

}  // namespace

SessionGuard::SessionGuard(Run& run, unsigned lineage) : run_{run}, lineage_{lineage} {
    thread_ = std::thread{[this] { work(); }};
}

SessionGuard::~SessionGuard() {
    is_ended_ = true;
    thread_.join();
}

void SessionGuard::begin(pid_t process) {
    const std::lock_guard lock{mutex_};
    process_ = process;
    begin_ = run_.now();
}

void SessionGuard::work() {
    while (!is_ended_) {
        std::this_thread::sleep_for(std::chrono::milliseconds{100});
        const std::lock_guard lock{mutex_};
        if (process_ == 0 || run_.now() - begin_ < longest_step) continue;
        const std::string session = "session " + std::to_string(process_);
        const Time healed = run_.healed();
        if (healed != 0 && begin_ > healed)
            run_.complain(session, "no answer, although all faults are undone");
        else
            run_.say(session, "is ended, because a step takes too long");
        const OpenWindow window{run_, lineage_, Fault::any};
        (void)::kill(process_, SIGTERM);
        begin_ = run_.now();
    }
}

}  // namespace snowdrift::chaos
