// The cost of an ID in one session, compared to a function that does nothing.
#include "bench.hpp"

namespace snowdrift::bench {
namespace {

struct Candidate {
    std::string label;
    std::string function;                ///< as regprocedure input
    std::string argument = "NULL::int";  ///< NULL if the function takes none
};

constexpr const char* paced_call = "bench_ns_per_paced_call";
constexpr const char* unpaced_call = "bench_ns_per_call";
const std::string noop = "no-op";
const std::string limit = "clock and one atomic";

std::vector<Candidate> candidates(bool with_uuidv7, const std::vector<Peer>& peers) {
    std::vector<Candidate> all = {
        {noop, "bench_noop()"},
        {"clock", "bench_clock()"},
        {limit, "bench_clock_and_atomic()"},
        {"next_snowflake()", "next_snowflake()"},
        {"next_snowflake(name)", "next_snowflake(text)", "'wide'::text"},
        {"next_sno()", "next_sno(int)", "0"},
        {"next_ulid()", "next_ulid()"},
        {"gen_ulid()", "gen_ulid()"},
        {"next_uuidv7()", "next_uuidv7()"},
        {"nextval, CACHE 1", "nextval(regclass)", "'bench_sequence'::regclass"},
        {"nextval, CACHE 100", "nextval(regclass)", "'bench_sequence_cached'::regclass"},
        {"gen_random_uuid()", "gen_random_uuid()"},
    };
    if (with_uuidv7) all.push_back({"uuidv7()", "uuidv7()"});
    for (const Peer& peer : peers) all.push_back({peer.label, peer.signature, peer.argument});
    return all;
}

/// Nanoseconds per call. The calls are made in a loop inside the server.
double ns_per_call(pqxx::connection& connection, const Candidate& candidate, const char* measure) {
    return number(connection, std::string{"SELECT "} + measure + "('" + candidate.function +
                                  "'::regprocedure, 200000, " + candidate.argument + ")");
}

/// A function that transactions call once each.
struct Function {
    std::string label, call;
};

std::vector<Function> functions_in_transactions(bool with_uuidv7, const std::vector<Peer>& peers) {
    std::vector<Function> all;
    for (const char* call :
         {"next_snowflake()", "next_ulid()", "next_uuidv7()", "gen_random_uuid()"})
        all.push_back({call, call});
    if (with_uuidv7) all.push_back({"uuidv7()", "uuidv7()"});
    for (const Peer& peer : peers) all.push_back({peer.label, peer.call});
    return all;
}

/// Nanoseconds per transaction that makes the call once. The transactions run in a loop inside the
/// server.
double ns_per_transaction(pqxx::connection& connection, const std::string& call) {
    constexpr int transactions = 50'000;
    return ms_of(connection, "DO $$BEGIN FOR i IN 1 .. " + std::to_string(transactions) +
                                 " LOOP PERFORM " + call + "; COMMIT; END LOOP; END$$") *
           1e6 / transactions;
}

void measure_calls(Report& report, const Options& options, pqxx::connection& connection,
                   const std::vector<Candidate>& all) {
    const int rounds = options.rounds(15, 5);
    for (int round = 0; round <= rounds; ++round) {
        progress("calls, round " + std::to_string(round) + " of " + std::to_string(rounds));
        const double noop_ns = ns_per_call(connection, all[0], paced_call);
        const double noop_unpaced_ns = ns_per_call(connection, all[0], unpaced_call);
        for (const auto& candidate : all) {
            const double paced = ns_per_call(connection, candidate, paced_call) - noop_ns;
            const double unpaced =
                ns_per_call(connection, candidate, unpaced_call) - noop_unpaced_ns;
            if (round == 0) continue;  // warm-up
            report.figure(candidate.label, "cost", "ns", paced);
            report.figure(candidate.label, "cost without a pause", "ns", unpaced);
        }
    }
}

void measure_transactions(Report& report, const Options& options, pqxx::connection& connection,
                          const std::vector<Function>& functions) {
    const int rounds = options.rounds(15, 5);
    for (int round = 0; round <= rounds; ++round) {
        progress("transactions, round " + std::to_string(round) + " of " + std::to_string(rounds));
        const double noop_ns = ns_per_transaction(connection, "bench_noop()");
        for (const auto& [label, call] : functions) {
            const double ns = ns_per_transaction(connection, call) - noop_ns;
            if (round > 0) report.figure(label, "cost per transaction", "ns", ns);
        }
    }
}

}  // namespace

void cost(Report& report, const Options& options) {
    pqxx::connection connection;
    const bool with_uuidv7 = has_uuidv7(connection);
    const auto all = candidates(with_uuidv7, options.peers);
    const auto in_transactions = functions_in_transactions(with_uuidv7, options.peers);

    report.begin("cost", "Cost of an ID, one session");
    run(connection, "SET jit = off");
    measure_calls(report, options, connection, all);
    measure_transactions(report, options, connection, in_transactions);
    progress("");

    std::vector<Cells> rows;
    std::vector<Bars> bars;
    for (const auto& [label, function, argument] : all) {
        const double ns = report.of("cost", label, "cost");
        rows.push_back({label, shown(ns, 1),
                        label == noop ? "" : shown(report.ratio("cost", "cost", label, limit), 2),
                        shown(report.of("cost", label, "cost without a pause"), 1)});
        if (label != noop) bars.push_back({label, {ns}, is_ours(label)});
    }
    report.table({"one session", "ns above no-op", "ratio to clock and atomic", "without a pause"},
                 rows);
    report.note(
        "The calls run inside the server, in bursts of 1000, one burst per millisecond. This "
        "call rate stays below each format's limit. The figure is the median of the bursts. "
        "\"Without a pause\" is the mean of consecutive calls, and includes everything that "
        "happens during them: `next_snowflake()` then reaches its limit of 4096 IDs per "
        "millisecond (244 ns each) and waits, and `next_sno()` its limit of 65536 IDs per 4 ms "
        "(61 ns each). All calls of `next_ulid()` and of `next_uuidv7()` are in one transaction "
        "here.");
    rows.clear();
    for (const auto& [label, call] : in_transactions)
        rows.push_back(
            {label, shown(report.of("cost", label, "cost per transaction"), 0),
             shown(report.ratio("cost", "cost per transaction", label, "gen_random_uuid()"), 2)});
    report.table({"one call per transaction", "ns above no-op", "ratio to gen_random_uuid()"},
                 rows);

    const auto ratio = [&](const std::string& subject, const std::string& base) {
        return report.ratio("cost", "cost", subject, base);
    };
    report.bars("cost", "Cost of an ID above a function that does nothing, ns",
                "The bars show what one call costs inside the server. A generator that sessions "
                "share, and that reads the clock for each ID, needs at least a clock reading and "
                "an atomic operation. `next_snowflake()` takes " +
                    shown(ratio("next_snowflake()", limit), 2) +
                    " times as long as these two. When a transaction draws many IDs, "
                    "`next_ulid()` takes " +
                    shown(ratio("next_ulid()", limit), 2) + " times and `next_uuidv7()` " +
                    shown(ratio("next_uuidv7()", limit), 2) +
                    " times as long, because the transaction draws one block and takes its IDs "
                    "from it. The cost of an ID matters when a statement inserts many rows: a "
                    "statement for one row costs far more than any of these IDs.",
                {"cost"}, bars, 1);
    for (const auto& [ours, most] : {std::pair<std::string, double>{"next_snowflake()", 1.3},
                                     {"next_snowflake(name)", 1.2},
                                     {"next_sno()", 1.2}})
        report.at_most(ours + " in bursts, to clock and atomic", most, ratio(ours, limit));
    report.limitation(
        "`next_sno()`: unlike a `bigint`, the 10 bytes of a `sno` are passed by reference, so each "
        "call allocates memory.");
    std::vector<const char*> bases = {"gen_random_uuid()"};
    if (with_uuidv7) bases.push_back("uuidv7()");
    for (const std::string ours : {"next_ulid()", "next_uuidv7()"}) {
        report.at_most(ours + " in a transaction, to clock and atomic", 1.0, ratio(ours, limit));
        for (const std::string base : bases) {
            report.at_most(ours + " in a transaction, to " + base, 1.0 / 15, ratio(ours, base));
            report.at_most(ours + ", one call per transaction, to " + base, 0.5,
                           report.ratio("cost", "cost per transaction", ours, base));
        }
    }
}

}  // namespace snowdrift::bench
