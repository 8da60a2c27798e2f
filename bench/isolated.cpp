// INSERT statements of one session at fixed rates, with fsync on, without and with a synchronous
// standby: latency, and the number of times that a statement flushes WAL.
#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "bench.hpp"

namespace snowdrift::bench {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

const std::string identity = "bigint identity";
constexpr const char* ours[] = {"next_snowflake()", "next_ulid()", "next_uuidv7()"};

/// How a statement gets its ID.
enum class Form { plain, returning, block, trigger };

struct Rate {
    std::string label;
    std::chrono::milliseconds interval;
    int rows;                       ///< of one table in one round
    int rounds, rounds_if_standby;  ///< without and with a standby
    Form form = Form::plain;

    bool is_alone() const { return rows == 1; }
    /// Whether there are enough rows for a 99.9th percentile that is not the maximum.
    bool has_tail() const { return interval <= 10ms; }
};

/// At these rates, each row is a round of its own, and its flushes are counted.
const std::string alone = "one per 0.6 s";

std::vector<Rate> rates(const Options& options) {
    const int rounds = options.rounds(16, 2), rounds_if_standby = options.rounds(10, 1);
    std::vector<Rate> all;
    for (const auto& [suffix, form] : {std::pair{"", Form::plain},
                                       {", RETURNING", Form::returning},
                                       {", in a block", Form::block},
                                       {", by a trigger", Form::trigger}})
        all.push_back({alone + suffix, 600ms, 1, rounds, rounds_if_standby, form});
    all.push_back({"10/s", 100ms, 10, options.rounds(6, 1), options.rounds(4, 1)});
    all.push_back({"100/s", 10ms, 100, options.rounds(30, 1), options.rounds(10, 1)});
    all.push_back({"1000/s", 1ms, 300, options.rounds(10, 1), options.rounds(10, 1)});
    return all;
}

/// Whether there is a synchronous standby.
struct Setup {
    bool standby;
    std::string label() const { return standby ? "synchronous standby" : "no standby"; }
    int rounds(const Rate& rate) const { return standby ? rate.rounds_if_standby : rate.rounds; }
};

/// The name of a measure of one rate.
std::string measure_of(const Setup& setup, const Rate& rate, const std::string& what) {
    return setup.label() + "; " + rate.label + "; " + what;
}

void wait_until(pqxx::connection& connection, const std::string& condition) {
    const auto deadline = Clock::now() + 30s;
    while (text(connection, "SELECT " + condition) != "t") {
        if (Clock::now() > deadline) throw std::runtime_error{"still false: " + condition};
        std::this_thread::sleep_for(10ms);
    }
}

/// Changes a setting of the server. An empty value stands for the default.
void configure(pqxx::connection& connection, const std::string& name, const std::string& value) {
    run(connection, value.empty() ? "ALTER SYSTEM RESET " + name
                                  : "ALTER SYSTEM SET " + name + " = '" + value + "'");
    run(connection, "SELECT pg_reload_conf()");
}

/// A synchronous standby of the server, in a folder beside the server's.
class Standby {
 public:
    explicit Standby(pqxx::connection& connection)
        : connection_{connection},
          folder_{text(connection, "SELECT current_setting('data_directory')") + ".standby"} {
        progress("starting a standby");
        shell("tools/standby.sh start " + folder_);
        configure(connection, "synchronous_standby_names", "*");
        wait_until(connection, "'sync' IN (SELECT sync_state FROM pg_stat_replication)");
    }

    ~Standby() {
        try {
            configure(connection_, "synchronous_standby_names", "");
            shell("tools/standby.sh stop " + folder_);
        } catch (const std::exception& e) {
            std::fprintf(stderr, "cannot stop the standby: %s\n", e.what());
        }
    }

    Standby(const Standby&) = delete;
    Standby& operator=(const Standby&) = delete;

 private:
    pqxx::connection& connection_;
    std::string folder_;
};

/// The name of the prepared statement. That of Form::block is the same as without a block.
std::string prepared(const KeyedTable& keyed, Form form) {
    return keyed.table + (form == Form::returning ? " returning"
                          : form == Form::trigger ? " by a trigger"
                                                  : "");
}

/// Creates the table, and one whose IDs come from a trigger.
void make_tables(pqxx::connection& connection, const KeyedTable& keyed) {
    make_table(connection, keyed);
    const size_t found = keyed.column.find("DEFAULT ");
    const std::string expression =
        found == std::string::npos ? "nextval('bench_sequence')" : keyed.column.substr(found + 8);
    const std::string type = keyed.column.substr(0, keyed.column.find(' '));
    run(connection, filled("DROP TABLE IF EXISTS %_triggered;"
                           "CREATE TABLE %_triggered (value int, id ",
                           keyed.table) +
                        type + " PRIMARY KEY)");
    run(connection, filled("CREATE OR REPLACE FUNCTION %_set_id() RETURNS trigger"
                           " LANGUAGE plpgsql AS $$ BEGIN new.id := ",
                           keyed.table) +
                        expression + "; RETURN new; END $$");
    run(connection, filled("CREATE TRIGGER set_id BEFORE INSERT ON %_triggered"
                           " FOR EACH ROW EXECUTE FUNCTION %_set_id()",
                           keyed.table));
    const std::string insert = filled("INSERT INTO % (value) VALUES (1)", keyed.table);
    connection.prepare(prepared(keyed, Form::plain), insert);
    connection.prepare(prepared(keyed, Form::returning), insert + " RETURNING id");
    connection.prepare(prepared(keyed, Form::trigger),
                       filled("INSERT INTO %_triggered (value) VALUES (1)", keyed.table));
}

void drop_tables(pqxx::connection& connection, const KeyedTable& keyed) {
    run(connection, filled("DROP TABLE %, %_triggered; DROP FUNCTION %_set_id()", keyed.table));
}

/// Inserts a row in a transaction of its own. Returns the duration in microseconds, with that of
/// BEGIN and COMMIT for Form::block.
double us_of_insert(pqxx::connection& connection, const KeyedTable& keyed, Form form) {
    const std::string statement = prepared(keyed, form);
    const auto begin = Clock::now();
    if (form == Form::block) {
        pqxx::work transaction{connection};
        (void)transaction.exec_prepared(statement);
        transaction.commit();
    } else {
        pqxx::nontransaction transaction{connection};
        (void)transaction.exec_prepared(statement);
    }
    return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

/// The number of times that WAL was flushed so far. Before PostgreSQL 18, it includes the flushes
/// of background processes.
double flushes(pqxx::connection& connection) {
    run(connection, "SELECT pg_stat_force_next_flush()");
    return number(connection, connection.server_version() < 180000
                                  ? "SELECT wal_sync FROM pg_stat_wal"
                                  : "SELECT sum(fsyncs) FROM pg_stat_io"
                                    " WHERE object = 'wal' AND backend_type = 'client backend'");
}

/// Inserts the rows of one round, and adds their latencies in microseconds to `latencies`. A row
/// that is due while the previous INSERT still runs is inserted right after it, and does not move
/// the later rows closer together.
void insert_rows(Report& report, pqxx::connection& connection, const KeyedTable& keyed,
                 const Setup& setup, const Rate& rate, std::vector<double>& latencies) {
    std::vector<double> round;
    const auto begin = Clock::now();
    auto due = begin;
    for (int row = 0; row < rate.rows; ++row) {
        const double before = rate.is_alone() ? flushes(connection) : 0;
        due = std::max(due + rate.interval, Clock::now());
        std::this_thread::sleep_until(due);
        round.push_back(us_of_insert(connection, keyed, rate.form));
        if (rate.is_alone())
            report.figure(keyed.label, measure_of(setup, rate, "flushes"), "1",
                          flushes(connection) - before);
    }
    const std::chrono::duration<double> elapsed = Clock::now() - begin;
    report.figure(keyed.label, measure_of(setup, rate, "rate"), "1/s", rate.rows / elapsed.count());
    report.figure(keyed.label, measure_of(setup, rate, "median"), "us", median(round));
    latencies.insert(latencies.end(), round.begin(), round.end());
}

void measure_rate(Report& report, pqxx::connection& connection, const std::vector<KeyedTable>& all,
                  const Setup& setup, const Rate& rate) {
    std::map<std::string, std::vector<double>> latencies;
    in_turn(setup.label() + ", INSERT, " + rate.label, setup.rounds(rate), all,
            [&](const KeyedTable& keyed) {
                insert_rows(report, connection, keyed, setup, rate, latencies[keyed.label]);
            });
    for (const auto& [label, us] : latencies)
        report.figure(label, measure_of(setup, rate, "p99.9"), "us", percentile(us, 0.999));
}

void measure_setup(Report& report, pqxx::connection& connection, const Options& options,
                   const std::vector<KeyedTable>& all, const Setup& setup) {
    run(connection, "CHECKPOINT");
    constexpr int warm_up = 20;
    for (const auto& keyed : all)
        for (int i = 0; i < warm_up; ++i)
            for (const Form form : {Form::plain, Form::returning, Form::block, Form::trigger})
                us_of_insert(connection, keyed, form);
    for (const Rate& rate : rates(options)) measure_rate(report, connection, all, setup, rate);
}

double ratio(const Report& report, const std::string& subject, const std::string& measure) {
    return report.ratio("isolated", measure, subject, identity);
}

void show_setup(Report& report, const Options& options, const std::vector<KeyedTable>& all,
                const Setup& setup) {
    std::vector<Cells> rows;
    for (const Rate& rate : rates(options))
        for (const auto& [label, table, column] : all) {
            const std::string middle = measure_of(setup, rate, "median");
            const std::string tail = measure_of(setup, rate, "p99.9");
            rows.push_back({rate.label + ": " + label,
                            std::to_string(setup.rounds(rate) * rate.rows),
                            shown(report.of("isolated", label, measure_of(setup, rate, "rate")),
                                  rate.is_alone() ? 1 : 0),
                            shown(report.of("isolated", label, middle), 0),
                            shown(ratio(report, label, middle), 2),
                            rate.is_alone() ? "" : shown(report.of("isolated", label, tail), 0),
                            rate.is_alone() ? "" : shown(ratio(report, label, tail), 2)});
        }
    report.table(
        {setup.label(), "rows", "rows/s", "median, us", "ratio", "99.9th percentile, us", "ratio"},
        rows);
}

/// The mean number of flushes per INSERT.
void show_flushes(Report& report, const Options& options, const std::vector<KeyedTable>& all) {
    Cells head = {"flushes per isolated INSERT"};
    for (const auto& keyed : all) head.push_back(keyed.label);
    std::vector<Cells> rows;
    for (const Setup setup : {Setup{false}, Setup{true}})
        for (const Rate& rate : rates(options)) {
            if (!rate.is_alone()) continue;
            rows.push_back({setup.label() + ", " + rate.label});
            for (const auto& keyed : all)
                rows.back().push_back(shown(
                    report.mean("isolated", keyed.label, measure_of(setup, rate, "flushes")), 2));
        }
    report.table(head, rows);
}

void chart(Report& report, const Options& options, const std::vector<KeyedTable>& all) {
    const Rate rate = rates(options).front();
    std::vector<Bars> bars;
    for (const auto& [label, table, column] : all)
        bars.push_back({label,
                        {report.of("isolated", label, measure_of({false}, rate, "median")),
                         report.of("isolated", label, measure_of({true}, rate, "median"))},
                        is_ours(label)});
    const auto rows = [&](const Setup& setup) {
        return std::to_string(setup.rounds(rate) * rate.rows);
    };
    const auto flushes_of = [&](const std::string& subject) {
        return shown(report.mean("isolated", subject, measure_of({false}, rate, "flushes")), 2);
    };
    std::string counted = identity + " " + flushes_of(identity);
    for (const std::string subject : ours) counted += ", `" + subject + "` " + flushes_of(subject);
    report.bars(
        "isolated", "INSERT every 0.6 s, median latency, microseconds",
        "An application inserts a row now and then, with fsync on, and waits for the "
        "disk and the standby. An ID adds to this wait only if it causes a flush of its "
        "own. Flushes per `INSERT` without a standby: " +
            counted +
            ". After a pause of more than 3 s, and at times of more than 1.5 s, Snowdrift's IDs "
            "cause one more flush. The bars are medians of " +
            rows({false}) + " and " + rows({true}) + " rows, and vary with the speed of the disk.",
        {"without a standby", "with a synchronous standby"}, bars, 0);
}

/// The largest ratio to identity over the wanted rates.
double worst(const Report& report, const Options& options, const std::string& subject,
             const Setup& setup, const std::string& what, bool (*wanted)(const Rate&)) {
    double result = 0;
    for (const Rate& rate : rates(options))
        if (wanted(rate))
            result = std::max(result, ratio(report, subject, measure_of(setup, rate, what)));
    return result;
}

void targets(Report& report, const Options& options) {
    const auto alone = [](const Rate& rate) { return rate.is_alone(); };
    const auto fast = [](const Rate& rate) { return !rate.is_alone(); };
    const auto tail = [](const Rate& rate) { return rate.has_tail(); };
    for (const Setup setup : {Setup{false}, Setup{true}})
        for (const std::string subject : ours) {
            const std::string where =
                "INSERT, " + setup.label() + ", " + subject + " to identity, ";
            const auto target = [&](const char* name, double limit, const char* what,
                                    bool (*wanted)(const Rate&)) {
                report.at_most(where + name, limit,
                               worst(report, options, subject, setup, what, wanted));
            };
            target("flushes, median", 1.0, "flushes", alone);
            target("median, one per 0.6 s", 1.05, "median", alone);
            target("median, 10/s to 1000/s", 1.05, "median", fast);
            target("99.9th percentile, 100/s and 1000/s", 1.2, "p99.9", tail);
        }
    report.limitation(
        "`INSERT` every 0.6 s: Snowdrift's IDs share the mark. In each round, `next_snowflake()` "
        "comes after two rows without an ID of Snowdrift, so it is the one that advances the mark: "
        "its transaction writes one more WAL record, and wakes the WAL writer. If only one table "
        "has such IDs, every third of these `INSERT`s does this. Each ratio is the worst of four "
        "medians of 16 or 10 rows, which vary between runs by more than the target allows, also "
        "those of PostgreSQL's own `uuidv7()`.");
    report.limitation(
        "`INSERT` at higher rates: the ratios vary between runs by more than the targets allow, "
        "also that of PostgreSQL's own `uuidv7()`. The 99.9th percentile of 3000 latencies is the "
        "fourth largest, so a few slow flushes decide it.");
}

}  // namespace

void isolated(Report& report, const Options& options) {
    report.begin("isolated", "INSERT at a fixed rate, with fsync");
    pqxx::connection connection;
    std::vector<KeyedTable> all = keyed_tables(connection, options);
    std::erase_if(all, [](const KeyedTable& keyed) {
        return keyed.label != identity && keyed.label != "uuidv7()" &&
               std::find(std::begin(ours), std::end(ours), keyed.label) == std::end(ours);
    });
    run(connection, "SET client_min_messages = warning");
    for (const auto& keyed : all) make_tables(connection, keyed);
    configure(connection, "fsync", "on");
    wait_until(connection, "current_setting('fsync') = 'on'");
    shell("sync");  // writes what earlier sections left to the kernel
    measure_setup(report, connection, options, all, {false});
    {
        const Standby standby{connection};
        measure_setup(report, connection, options, all, {true});
    }
    configure(connection, "fsync", "");
    for (const auto& keyed : all) drop_tables(connection, keyed);
    progress("");

    for (const Setup setup : {Setup{false}, Setup{true}}) show_setup(report, options, all, setup);
    show_flushes(report, options, all);
    report.note(
        "One session inserts one row per transaction; fsync and synchronous_commit are on. The ID "
        "is the primary key, and comes from the column's default, or from a BEFORE trigger, which "
        "then calls nextval() instead of identity; the other column is an integer. A latency "
        "begins when the client sends the statement; in a block, when it sends BEGIN, and it ends "
        "after COMMIT. If a row is due while the previous INSERT still "
        "runs, its INSERT follows at once; \"rows/s\" is the rate achieved. The tables "
        "alternate, in several rounds. Ratios are to bigint identity. Medians are compared round "
        "by round, and 99.9th percentiles over all rows; with up to 1000 rows, the 99.9th "
        "percentile is the largest or the second largest latency. The standby runs on the same "
        "machine and disk. Flushes are the primary's; before PostgreSQL 18, they include those "
        "of background processes.");
    chart(report, options, all);
    targets(report, options);
}

}  // namespace snowdrift::bench
