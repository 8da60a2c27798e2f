// Sealed IDs: what it costs to seal and to unseal, beside a random UUID.
#include <span>

#include "bench.hpp"

namespace snowdrift::bench {
namespace {

constexpr const char* random_uuid = "gen_random_uuid()";

struct Call {
    const char *label, *expression;
    bool is_of_edition;
};

constexpr Call measured_calls[] = {
    {random_uuid, random_uuid, false},
    {"snowflake_seal()", "snowflake_seal(i, 'bench')", false},
    {"snowflake_unseal()", "snowflake_unseal(sealed, 'bench')", false},
    {"snowflake_unseal(), invalid", "snowflake_unseal(invalid, 'bench', true) IS NULL", false},
    {"SQL edition's snowflake_seal()", "snowflake_seal(i, 'bench')", true},
    {"SQL edition's snowflake_unseal()", "snowflake_unseal(sealed, 'bench')", true},
    {"SQL edition's snowflake_unseal(), invalid",
     "snowflake_unseal(invalid, 'bench', true) IS NULL", true},
};

}  // namespace

void seals(Report& report, const Options& options) {
    report.begin("seals", "Seals");
    pqxx::connection library;
    pqxx::connection edition{std::string{"dbname="} + sql_edition_database};
    constexpr int calls = 50'000;
    for (pqxx::connection* const session : {&library, &edition})
        run(*session,
            "SELECT snowdrift.create_seal('bench'); CREATE TEMP TABLE bench_sealed AS SELECT "
            "i::bigint, "
            "snowflake_seal(i, 'bench') AS sealed, overlay(gen_random_uuid()::text PLACING '8' "
            "FROM 15)::uuid AS invalid FROM generate_series(1, " +
                std::to_string(calls) + ") AS i; ANALYZE bench_sealed");
    const std::string measure = "call";
    in_turn_when_warm(measure, options.rounds(15, 5), std::span{measured_calls},
                      [&](const Call& subject, bool counts) {
                          pqxx::connection& session = subject.is_of_edition ? edition : library;
                          const double ms =
                              ms_of(session, std::string{"SELECT count("} + subject.expression +
                                                 ") FROM bench_sealed");
                          if (counts)
                              report.figure(subject.label, measure, "µs", 1000 * ms / calls);
                      });
    for (pqxx::connection* const session : {&library, &edition})
        run(*session, "DROP TABLE bench_sealed; SELECT snowdrift.drop_seal('bench')");

    const auto ratio = [&](const std::string& call) {
        return report.ratio("seals", measure, call, random_uuid);
    };
    std::vector<Cells> rows;
    for (const Call& subject : measured_calls)
        rows.push_back({subject.label, shown(report.of("seals", subject.label, measure), 2),
                        shown(ratio(subject.label), 2)});
    report.table({"function", "µs per call", "ratio"}, rows);
    report.note("A statement calls each function for 50,000 rows. Ratios are to " +
                std::string{random_uuid} +
                ". Names longer than 46 characters need "
                "another SHA-256 block per HMAC, and take 1.5 times as long.");
    report.meaning("Sealing an ID takes " + shown(ratio("snowflake_seal()"), 2) +
                   " times as long as generating a random UUID, and unsealing it " +
                   shown(ratio("snowflake_unseal()"), 2) + " times; in the SQL edition, " +
                   shown(ratio("SQL edition's snowflake_seal()"), 1) + " and " +
                   shown(ratio("SQL edition's snowflake_unseal()"), 1) + " times.");
    for (const char* const call : {"snowflake_seal()", "snowflake_unseal()"}) {
        report.at_most(std::string{call} + " to " + random_uuid, 1.3, ratio(call));
        const std::string of_edition = std::string{"SQL edition's "} + call;
        report.at_most(of_edition + " to " + random_uuid, 15, ratio(of_edition));
    }
    report.limitation(
        "Seals: each call computes two HMACs, which hash four blocks. `gen_random_uuid()` gets 16 "
        "bytes from OpenSSL, whose speed depends on its version and the processor.");
}

}  // namespace snowdrift::bench
