// The SQL edition beside the extension: the same statements have the same outcomes.
#include <fstream>
#include <iterator>
#include <regex>

#include "fuzz/sql/targets.hpp"

namespace snowdrift::fuzz {
namespace {

/// Whether the SQL edition has all that a statement names. It has no types ulid and sno, and its
/// layouts have no canonical text.
bool is_in_sql_edition(const std::string& statement) {
    static const std::regex missing{
        R"(\b(\w+_)?(ulid|sno)(_\w+)?\b|snowflake_layout::text|pg_input_|\bsnowflake_diagram\b)"
        R"(|\bmake_uuidv7\b|\buuidv7_randomness\b|\buuidv7_within_pruned\b)"};
    return !std::regex_search(statement, missing);
}

void expect_equal(const Outcome& outcome, const Outcome& in_sql_edition,
                  const std::string& statement, const std::vector<Parameter>& parameters) {
    if (in_sql_edition != outcome)
        disagree("in the SQL edition: " + statement, parameters, in_sql_edition, shown(outcome));
}

}  // namespace

void Session::add_sql_edition(const std::string& database) {
    run_all("DROP DATABASE IF EXISTS " + database);
    run_all("CREATE DATABASE " + database);
    std::vector<std::string> settings{"array_nulls = off",
                                      "bytea_output = escape",
                                      "datestyle = 'SQL, DMY'",
                                      "default_transaction_read_only = on",
                                      "extra_float_digits = -15",
                                      "intervalstyle = sql_standard",
                                      "timezone = UTC"};
    if (version() < 19)
        settings.insert(settings.end(),
                        {"escape_string_warning = off", "standard_conforming_strings = off"});
    // No result depends on them, nor on those with which the script runs.
    for (const std::string& setting : settings)
        run_all("ALTER DATABASE " + database + " SET " + setting);
    std::ifstream file{SNOWDRIFT_SQL_EDITION};
    const std::string script{std::istreambuf_iterator<char>{file}, {}};
    sql_edition_ = std::make_unique<Session>("dbname=" + database);
    sql_edition_->run_all("BEGIN READ WRITE;" + script + ";COMMIT");
}

Outcome Session::run(const std::string& statement, const std::vector<Parameter>& parameters) {
    const Outcome outcome = run_alone(statement, parameters);
    if (sql_edition_ != nullptr && is_in_sql_edition(statement))
        expect_equal(outcome, sql_edition_->run_alone(statement, parameters), statement,
                     parameters);
    return outcome;
}

void expect_same(Session& session, const std::string& statement, const std::string& in_sql_edition,
                 const std::vector<Parameter>& parameters) {
    if (Session* const other = session.sql_edition(); other != nullptr)
        expect_equal(session.run_alone(statement, parameters),
                     other->run_alone(in_sql_edition, parameters), in_sql_edition, parameters);
}

}  // namespace snowdrift::fuzz
