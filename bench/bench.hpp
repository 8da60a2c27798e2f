// What the sections of the benchmark share: the run's size, the server, and the sections' names.
#pragma once

#include <functional>
#include <pqxx/pqxx>
#include <string>
#include <vector>

#include "report.hpp"

namespace snowdrift::bench {

struct Options {
    bool quick = false;
    int rounds(int full, int when_quick) const { return quick ? when_quick : full; }
};

/// Runs a statement, or several, in `connection`.
pqxx::result run(pqxx::connection& connection, const std::string& statement);

/// The first value of a statement's result.
double number(pqxx::connection& connection, const std::string& statement);
std::string text(pqxx::connection& connection, const std::string& statement);

/// Milliseconds that a statement takes.
double ms_of(pqxx::connection& connection, const std::string& statement);

bool has_uuidv7(pqxx::connection& connection);

/// Says on standard error what goes on; on a terminal, in place of what it said before.
void progress(const std::string& what);

/// Visits all candidates in each of `rounds` rounds: visit(candidate). Each round begins with the
/// next candidate, so none always comes after the same one.
template <typename Candidates, typename Visit>
void in_turn(const std::string& what, int rounds, const Candidates& candidates, Visit visit) {
    for (int round = 1; round <= rounds; ++round) {
        progress(what + ", round " + std::to_string(round) + " of " + std::to_string(rounds));
        for (size_t i = 0; i < candidates.size(); ++i)
            visit(candidates[(static_cast<size_t>(round) + i) % candidates.size()]);
    }
    progress("");
}

/// The same after a round that warms up and doesn't count: visit(candidate, counts).
template <typename Candidates, typename Visit>
void in_turn_when_warm(const std::string& what, int rounds, const Candidates& candidates,
                       Visit visit) {
    progress(what + ", warming up");
    for (const auto& candidate : candidates) visit(candidate, false);
    in_turn(what, rounds, candidates, [&](const auto& candidate) { visit(candidate, true); });
}

/// Runs a shell command, and throws if it fails. Returns its standard output.
std::string shell(const std::string& command);

/// `template_text` with `with` for each %.
std::string filled(std::string template_text, const std::string& with);

// The sections.
void cost(Report& report, const Options& options);
void sessions(Report& report, const Options& options);
void insert(Report& report, const Options& options);
void types(Report& report, const Options& options);
void time_range(Report& report, const Options& options);
void core(Report& report, const Options& options);
void growth(Report& report, const Options& options);

}  // namespace snowdrift::bench
