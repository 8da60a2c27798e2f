// What all threads of a run share: its clock, the request to stop, the journal of what was done,
// and the faults and errors that the checks need.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "chaos/history.hpp"

namespace snowdrift::chaos {

/// The files and folders that a run uses.
struct Paths {
    std::filesystem::path work;            ///< everything that the run writes
    std::filesystem::path bindir;          ///< PostgreSQL's programs
    std::filesystem::path extension_conf;  ///< the configuration with which servers find Snowdrift
    std::filesystem::path small_disk;  ///< a file system of a few megabytes; empty if there is none
    std::filesystem::path clock;       ///< the library of the servers' clocks

    std::filesystem::path history() const { return work / "history"; }
};

class Run {
 public:
    Run(Paths paths, uint32_t seed);

    const Paths paths;

    /// A generator of random numbers for the actor with this name. Its numbers depend on the seed
    /// and the name only.
    std::mt19937_64 random(const std::string& actor) const;

    /// The time since the beginning of the run.
    Time now() const;

    /// All faults are undone from now on.
    void heal() { healed_ = now(); }

    /// When all faults were undone; 0 before.
    Time healed() const { return healed_; }

    /// Prints what an actor does, after the time in seconds.
    void say(const std::string& actor, const std::string& what);

    /// The same for a fault, which is counted under its name.
    void count_fault(const std::string& actor, const std::string& name, const std::string& detail);

    /// A problem of the run itself, such as a server that does not start. The run fails.
    void complain(const std::string& actor, const std::string& problem);

    void add(const Window& window);
    void add(const Failure& failure);
    void add(const Finding& finding);

    /// The IDs that a client has received, when it ends.
    void count_ids(Format format, uint64_t count);

    /// The rows of a feed that a poller has read, and how many of the feed's rows a reader without
    /// the watermark has missed meanwhile.
    struct ReadCount {
        uint64_t read = 0;
        uint64_t missed_without_watermark = 0;
    };
    void count_rows(const std::string& feed, uint64_t read, uint64_t missed_without_watermark);

    /// A watermark that was wrong.
    void count_misreading(const std::string& what);

    /// Waits until the time has passed or the run is to stop. Returns false if it is to stop.
    bool pause(std::chrono::nanoseconds duration) const;

    // For the end of the run, when all other threads have ended
    const std::map<std::string, uint64_t>& faults() const { return faults_; }
    const std::vector<std::string>& problems() const { return problems_; }
    const std::vector<Window>& windows() const { return windows_; }
    const std::vector<Failure>& failures() const { return failures_; }
    const std::vector<Finding>& findings() const { return findings_; }
    const std::vector<std::string>& misreadings() const { return misreadings_; }
    const std::map<std::string, ReadCount>& rows() const { return rows_; }
    const std::map<std::string, uint64_t>& errors() const { return errors_; }
    uint64_t received(Format format) const { return received_[static_cast<size_t>(format)]; }

 private:
    const uint32_t seed_;
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::atomic<Time> healed_ = 0;
    std::mutex mutex_;
    std::map<std::string, uint64_t> faults_;
    std::map<std::string, uint64_t> errors_;
    std::vector<std::string> problems_;
    std::vector<Window> windows_;
    std::vector<Failure> failures_;
    std::vector<Finding> findings_;
    std::vector<std::string> misreadings_;
    std::map<std::string, ReadCount> rows_;
    std::array<uint64_t, format_count> received_{};
};

/// A message without its line ends.
std::string one_line(std::string message);

/// Set by a signal: the run ends as soon as possible.
extern std::atomic<bool> interrupted;

/// Opens the window of a fault; closes it, and adds it to the run, when it is destroyed.
class OpenWindow {
 public:
    OpenWindow(Run& run, unsigned lineage, Fault fault)
        : run_{run}, window_{run.now(), 0, lineage, fault} {}
    ~OpenWindow() {
        window_.end = run_.now() + after_effect;
        run_.add(window_);
    }
    OpenWindow(const OpenWindow&) = delete;
    OpenWindow& operator=(const OpenWindow&) = delete;

 private:
    /// Sessions detect the end of a fault a little later.
    static constexpr Time after_effect = 1'000'000'000;

    Run& run_;
    Window window_;
};

/// A random number of these bounds, inclusive.
template <typename Number>
Number draw(std::mt19937_64& random, Number least, Number greatest) {
    if constexpr (std::is_floating_point_v<Number>)
        return std::uniform_real_distribution<Number>{least, greatest}(random);
    else
        return std::uniform_int_distribution<Number>{least, greatest}(random);
}

}  // namespace snowdrift::chaos
