// Declarations that the sections of the benchmark share: options, helpers for the server, and the
// sections themselves.
#pragma once

#include <functional>
#include <pqxx/pqxx>
#include <string>
#include <vector>

#include "report.hpp"
#include "statistics.hpp"

namespace snowdrift::bench {

/// A generator of another extension.
struct Peer {
    std::string label;      ///< such as "gen_ulid() of pg-ulid"
    std::string version;    ///< such as "pg-ulid 0.0.1"
    std::string call;       ///< a qualified call
    std::string signature;  ///< the input of a regprocedure
    std::string argument;   ///< of the call through that regprocedure; NULL if there is none
    std::string type;       ///< of its IDs
};

struct Options {
    bool quick = false;
    std::vector<Peer> peers;  ///< those that are installed
    int rounds(int full, int when_quick) const { return quick ? when_quick : full; }
};

/// The database of the SQL edition, which tools/bench.sh creates.
inline constexpr const char* sql_edition_database = "bench_sql_edition";

/// Runs one or more statements in `connection`, outside a transaction block.
pqxx::result run(pqxx::connection& connection, const std::string& statement);

/// Returns the first value of a statement's result.
double number(pqxx::connection& connection, const std::string& statement);
std::string text(pqxx::connection& connection, const std::string& statement);

/// Runs a statement. Returns its duration in milliseconds.
double ms_of(pqxx::connection& connection, const std::string& statement);

bool has_uuidv7(pqxx::connection& connection);

/// Creates the peers that the server's folders of extensions contain, each in a schema of its own.
/// Only later sessions can use them.
std::vector<Peer> create_peers(pqxx::connection& connection);

/// A table whose primary key is an ID, and whose other column is an integer.
struct KeyedTable {
    std::string label, table, column;
};

/// One table per kind of key, with a default that generates the key.
std::vector<KeyedTable> keyed_tables(pqxx::connection& connection, const Options& options);

/// Creates the table. Drops an older one.
void make_table(pqxx::connection& connection, const KeyedTable& keyed);

/// Whether a label names a function of Snowdrift.
inline bool is_ours(const std::string& label) {
    return label.starts_with("next_") || label == "gen_ulid()";
}

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

/// Statements per second, as measured by pgbench.
double throughput(const std::string& statement, int sessions, int seconds,
                  const std::string& database = {});

/// Lets this program have as many open files as the system allows. Each connection is one.
void raise_file_limit();

/// Returns `template_text` with each % replaced by `with`.
std::string filled(std::string template_text, const std::string& with);

// The sections.
void cost(Report& report, const Options& options);
void sessions(Report& report, const Options& options);
void isolated(Report& report, const Options& options);
void insert(Report& report, const Options& options);
void types(Report& report, const Options& options);
void time_range(Report& report, const Options& options);
void watermarks(Report& report, const Options& options);
void watched(Report& report, const Options& options);
void seals(Report& report, const Options& options);
void sql_edition(Report& report, const Options& options);
void core(Report& report, const Options& options);
void growth(Report& report, const Options& options);

}  // namespace snowdrift::bench
