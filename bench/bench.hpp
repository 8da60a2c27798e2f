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

/// In each of `rounds` rounds, visits all candidates: visit(candidate, counts). Each round begins
/// with the next candidate, so none always comes after the same one. The round before the first one
/// warms up: it doesn't count.
template <typename Candidates, typename Visit>
void in_turn(const std::string& what, int rounds, const Candidates& candidates, Visit visit) {
    for (int round = 0; round <= rounds; ++round) {
        progress(what + ", round " + std::to_string(round) + " of " + std::to_string(rounds));
        for (size_t i = 0; i < candidates.size(); ++i)
            visit(candidates[(static_cast<size_t>(round) + i) % candidates.size()], round > 0);
    }
    progress("");
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
