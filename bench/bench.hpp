// Declarations that the sections of the benchmark share: options, helpers for the server, and the
// sections themselves.
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

/// Runs one or more statements in `connection`, outside a transaction block.
pqxx::result run(pqxx::connection& connection, const std::string& statement);

/// Returns the first value of a statement's result.
double number(pqxx::connection& connection, const std::string& statement);
std::string text(pqxx::connection& connection, const std::string& statement);

/// Runs a statement. Returns its duration in milliseconds.
double ms_of(pqxx::connection& connection, const std::string& statement);

bool has_uuidv7(pqxx::connection& connection);

/// Shows a status line on standard error. On a terminal, it replaces the previous one.
void progress(const std::string& what);

/// Calls visit(candidate) for all candidates in each of `rounds` rounds. Each round begins with
/// another candidate, so that the order does not favor one.
template <typename Candidates, typename Visit>
void in_turn(const std::string& what, int rounds, const Candidates& candidates, Visit visit) {
    for (int round = 1; round <= rounds; ++round) {
        progress(what + ", round " + std::to_string(round) + " of " + std::to_string(rounds));
        for (size_t i = 0; i < candidates.size(); ++i)
            visit(candidates[(static_cast<size_t>(round) + i) % candidates.size()]);
    }
    progress("");
}

/// The same after a warm-up round: calls visit(candidate, counts), where `counts` is false in the
/// warm-up round.
template <typename Candidates, typename Visit>
void in_turn_when_warm(const std::string& what, int rounds, const Candidates& candidates,
                       Visit visit) {
    progress(what + ", warming up");
    for (const auto& candidate : candidates) visit(candidate, false);
    in_turn(what, rounds, candidates, [&](const auto& candidate) { visit(candidate, true); });
}

/// Runs a shell command. Returns its standard output. Throws if it fails.
std::string shell(const std::string& command);

/// Returns `template_text` with each % replaced by `with`.
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
