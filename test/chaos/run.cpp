#include "chaos/run.hpp"

#include <algorithm>
#include <cstdio>
#include <thread>
#include <utility>

namespace snowdrift::chaos {

std::atomic<bool> interrupted{false};

std::string one_line(std::string message) {
    std::replace(message.begin(), message.end(), '\n', ' ');
    message.erase(message.find_last_not_of(' ') + 1);
    return message;
}

Run::Run(Paths run_paths, uint32_t seed) : paths{std::move(run_paths)}, seed_{seed} {}

std::mt19937_64 Run::random(const std::string& actor) const {
    std::vector<uint32_t> seeds{seed_};
    seeds.insert(seeds.end(), actor.begin(), actor.end());
    std::seed_seq sequence(seeds.begin(), seeds.end());
    return std::mt19937_64{sequence};
}

Time Run::now() const { return (std::chrono::steady_clock::now() - start_).count(); }

void Run::say(const std::string& actor, const std::string& what) {
    const std::lock_guard lock{mutex_};
    (void)std::printf("%9.3f  %-10s %s\n", static_cast<double>(now()) * 1e-9, actor.c_str(),
                      one_line(what).c_str());
    (void)std::fflush(stdout);
}

void Run::count_fault(const std::string& actor, const std::string& name,
                      const std::string& detail) {
    say(actor, detail.empty() ? name : name + ": " + detail);
    const std::lock_guard lock{mutex_};
    ++faults_[name];
}

void Run::complain(const std::string& actor, const std::string& problem) {
    if (interrupted) return;
    say(actor, "PROBLEM: " + problem);
    const std::lock_guard lock{mutex_};
    problems_.push_back(actor + ": " + problem);
}

void Run::add(const Window& window) {
    const std::lock_guard lock{mutex_};
    windows_.push_back(window);
}

void Run::add(const Failure& failure) {
    const std::lock_guard lock{mutex_};
    ++errors_[failure.state];
    failures_.push_back(failure);
}

void Run::add(const Finding& finding) {
    const std::lock_guard lock{mutex_};
    findings_.push_back(finding);
}

void Run::count_ids(Format format, uint64_t count) {
    const std::lock_guard lock{mutex_};
    received_[static_cast<size_t>(format)] += count;
}

void Run::count_rows(const std::string& feed, uint64_t read, uint64_t missed_without_watermark) {
    const std::lock_guard lock{mutex_};
    rows_[feed].read += read;
    rows_[feed].missed_without_watermark += missed_without_watermark;
}

void Run::count_misreading(const std::string& what) {
    const std::lock_guard lock{mutex_};
    misreadings_.push_back(what);
}

bool Run::pause(std::chrono::nanoseconds duration) const {
    constexpr std::chrono::nanoseconds step = std::chrono::milliseconds{20};
    const auto end = std::chrono::steady_clock::now() + duration;
    for (auto now = std::chrono::steady_clock::now(); now < end && !interrupted;
         now = std::chrono::steady_clock::now())
        std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(step, end - now));
    return !interrupted;
}

}  // namespace snowdrift::chaos
