// The chaos run: servers, clients that keep every ID, and random faults; then the checks.
// ./dev chaos runs it. docs/testing.md describes it.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "chaos/checker.hpp"
#include "chaos/cluster.hpp"
#include "chaos/run.hpp"

namespace snowdrift::chaos {
namespace {

using Problems = std::vector<std::string>;

/// In a run of this length, each cluster reaches each of its kinds of faults.
constexpr double minutes_for_all_faults = 6;

/// The results of the checks, which are printed as they become known.
struct Verdict {
    int passed = 0;
    int failed = 0;

    void add(const std::string& check, const Problems& problems) {
        ++(problems.empty() ? passed : failed);
        (void)std::printf("%s  %s\n", problems.empty() ? "ok    " : "FAILED", check.c_str());
        constexpr size_t max_printed = 30;
        for (size_t i = 0; i < problems.size() && i < max_printed; ++i)
            (void)std::printf("  %s\n", problems[i].c_str());
        if (problems.size() > max_printed) (void)std::printf("  ... %zu in all\n", problems.size());
        (void)std::fflush(stdout);
    }
};

/// Calls a method of each cluster; an exception is a problem, too.
Problems of_all(std::vector<std::unique_ptr<Cluster>>& clusters, Problems (Cluster::*check)()) {
    Problems all;
    for (const auto& cluster : clusters) {
        try {
            const Problems problems = (*cluster.*check)();
            all.insert(all.end(), problems.begin(), problems.end());
        } catch (const std::exception& error) {
            all.push_back(cluster->name + ": " + error.what());
        }
    }
    return all;
}

/// Calls `act` for all clusters at the same time.
template <typename Act>
void in_parallel(std::vector<std::unique_ptr<Cluster>>& clusters, Act act) {
    std::vector<std::thread> threads;
    for (const auto& cluster : clusters) threads.emplace_back([&] { act(*cluster); });
    for (std::thread& thread : threads) thread.join();
}

Problems undocumented_errors(const Run& run) {
    Problems found;
    for (const Failure& failure : run.failures()) {
        if (is_documented(failure, run.windows())) continue;
        found.push_back("lineage " + std::to_string(failure.lineage) + ", " +
                        std::to_string(failure.begin / 1'000'000'000) + " s: " + failure.state +
                        " " + failure.message);
    }
    return found;
}

Problems findings(const Run& run) {
    Problems found;
    for (const Finding& finding : run.findings())
        if (stands(finding, run.windows())) found.push_back(finding.what);
    return found;
}

/// Why the pollers could not have missed a row of some feed, whatever the watermark is.
Problems vacuous_reading(const Run& run) {
    Problems found;
    uint64_t missed = 0;
    for (const auto& [feed, count] : run.rows()) {
        if (count.read == 0) found.push_back(feed + ": no row was read");
        missed += count.missed_without_watermark;
    }
    if (missed == 0) found.emplace_back("a reader without the watermark has missed no row");
    return found;
}

void print_summary(const Run& run) {
    (void)std::printf("\nFaults\n");
    for (const auto& [name, count] : run.faults())
        (void)std::printf("%10llu  %s\n", static_cast<unsigned long long>(count), name.c_str());
    (void)std::printf("Errors by SQLSTATE\n");
    for (const auto& [state, count] : run.errors())
        (void)std::printf("%10llu  %s\n", static_cast<unsigned long long>(count),
                          state.empty() ? "lost connections" : state.c_str());
    (void)std::printf("IDs received\n");
    for (size_t i = 0; i < format_count; ++i)
        (void)std::printf("%10llu  %ss\n",
                          static_cast<unsigned long long>(run.received(static_cast<Format>(i))),
                          format_names[i]);
    (void)std::printf("Rows read up to the watermark\n");
    for (const auto& [feed, count] : run.rows())
        (void)std::printf("%10llu  of %s; a reader without the watermark has missed %llu\n",
                          static_cast<unsigned long long>(count.read), feed.c_str(),
                          static_cast<unsigned long long>(count.missed_without_watermark));
    (void)std::printf("Checks\n");
}

/// Returns the exit status.
int chaos(const Paths& paths, double minutes, uint32_t seed) {
    const std::chrono::seconds duration{std::lround(minutes * 60)};
    // On a slow machine, faults take longer, so some kinds may still be missing after this time.
    const bool needs_all = minutes >= minutes_for_all_faults;
    const std::chrono::seconds longest = needs_all ? duration * 3 / 2 : duration;
    Run run{paths, seed};
    std::filesystem::create_directories(paths.history());
    std::vector<std::unique_ptr<Cluster>> clusters;
    clusters.push_back(make_replicas(run));
    clusters.push_back(make_writers(run));
    if (!paths.small_disk.empty()) clusters.push_back(make_small_server(run));
    for (const auto& cluster : clusters) cluster->set_up();

    const Time end = run.now() + std::chrono::nanoseconds{duration}.count();
    const Time latest_end = end + std::chrono::nanoseconds{longest - duration}.count();
    in_parallel(clusters, [=](Cluster& cluster) { cluster.torment(end, latest_end); });
    if (interrupted) return 130;
    in_parallel(clusters, [](Cluster& cluster) { cluster.heal(); });
    run.heal();

    const Problems missing = of_all(clusters, &Cluster::missing_faults);
    const Problems stuck = of_all(clusters, &Cluster::end_clients);
    Problems misread = of_all(clusters, &Cluster::misread_rows);
    const Problems leftovers = of_all(clusters, &Cluster::leftovers);
    const Problems lost = of_all(clusters, &Cluster::lost_rows);
    for (const auto& cluster : clusters) cluster->shut_down();
    const Problems crashes = of_all(clusters, &Cluster::crashes);
    if (interrupted) return 130;

    print_summary(run);
    Verdict verdict;
    verdict.add("no ID is repeated", describe_duplicates(paths.history()));
    verdict.add("IDs are in the order in which they were drawn",
                describe_disorder(paths.history()));
    verdict.add("each result and each transaction is in order", findings(run));
    verdict.add("no confirmed row is lost", lost);
    // Each is an error of its own; a few of them leave room for the rows.
    const Problems& wrong = run.misreadings();
    const auto few = static_cast<std::ptrdiff_t>(std::min<size_t>(wrong.size(), 5));
    misread.insert(misread.begin(), wrong.begin(), wrong.begin() + few);
    const Problems unread = vacuous_reading(run);
    misread.insert(misread.end(), unread.begin(), unread.end());
    verdict.add("pollers read each committed row once, in order", misread);
    verdict.add("all errors are documented", undocumented_errors(run));
    verdict.add("all clients draw IDs after the last fault", stuck);
    verdict.add("no waiting call, lock or session is left", leftovers);
    verdict.add("no server has crashed by itself", crashes);
    verdict.add("all faults could be done and undone", run.problems());
    if (needs_all) {
        verdict.add("each kind of fault has occurred", missing);
    } else {
        (void)std::printf(
            "In runs of less than %.0f minutes, kinds of faults may be missing: %zu\n",
            minutes_for_all_faults, missing.size());
    }
    if (paths.small_disk.empty())
        (void)std::printf("skipped: the server on a small disk, which requires root\n");
    (void)std::printf("seed %u\n%d passed, %d failed\n", seed, verdict.passed, verdict.failed);
    return verdict.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace snowdrift::chaos

/// chaos MINUTES SEED WORK BINDIR EXTENSION-CONF CLOCK. SNOWDRIFT_SMALL_DISK names the folder of
/// a file system of a few megabytes, if there is one.
int main(int argc, char** argv) {
    using namespace snowdrift::chaos;
    if (argc != 7) {
        (void)std::fputs("usage: see tools/chaos.sh\n", stderr);
        return 2;
    }
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
        (void)std::signal(signal, [](int) { interrupted = true; });
    (void)std::signal(SIGPIPE, SIG_IGN);
    try {
        const char* const small_disk = std::getenv("SNOWDRIFT_SMALL_DISK");
        const Paths paths{argv[3], argv[4], argv[5], small_disk != nullptr ? small_disk : "",
                          argv[6]};
        return chaos(paths, std::stod(argv[1]), static_cast<uint32_t>(std::stoul(argv[2])));
    } catch (const std::exception& error) {
        (void)std::fprintf(stderr, "chaos: %s\n", error.what());
        return interrupted ? 130 : 1;
    }
}
