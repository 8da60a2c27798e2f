// Snowflake IDs from many concurrent sessions are distinct, and ascend in each session.
#include <atomic>

#include "integration/sessions.hpp"

namespace snowdrift::test {
namespace {

constexpr int sessions = 8;

class SnowflakeSessions : public Server {};

TEST_F(SnowflakeSessions, TwoMillionIdsOfEightSessionsAreDistinctAndEachSessionsAscend) {
    constexpr int ids_each = 250'000;
    std::vector<Ids> ids(sessions);
    in_parallel(sessions, [&](int i) {
        pqxx::connection connection;
        fetch(connection, "SELECT next_snowflake() FROM generate_series(1, 125000)", ids.at(i));
        fetch(connection, "SELECT * FROM next_snowflakes(125000)", ids.at(i));
    });
    for (const auto& mine : ids) {
        EXPECT_EQ(mine.size(), size_t{ids_each});
        EXPECT_TRUE(strictly_ascending(mine));
    }
    expect_all_distinct(ids);
}

TEST_F(SnowflakeSessions, SessionsThatComeAndGoNeverRepeatAnId) {
    constexpr int visits = 40;
    std::vector<Ids> ids(sessions);
    in_parallel(sessions, [&](int i) {
        for (int visit = 0; visit < visits; ++visit) {
            pqxx::connection connection;
            fetch(connection, "SELECT next_snowflake() FROM generate_series(1, 500)", ids.at(i));
        }
    });
    for (const auto& mine : ids) {
        EXPECT_EQ(mine.size(), size_t{visits} * 500);
        EXPECT_TRUE(strictly_ascending(mine));
    }
    expect_all_distinct(ids);
}

TEST_F(SnowflakeSessions, SingleRowInsertsWithDefaultFromEightSessionsNeverConflict) {
    pqxx::connection setup;
    run(setup, "CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_snowflake(), body text)");
    in_parallel(sessions, [&](int) {
        pqxx::connection connection;
        run(connection, "SET synchronous_commit = off");
        for (int i = 0; i < 1000; ++i) run(connection, "INSERT INTO posts (body) VALUES ('x')");
    });
    EXPECT_EQ(run(setup, "SELECT count(*) FROM posts")[0][0].as<int>(), sessions * 1000);
    run(setup, "DROP TABLE posts");
}

TEST_F(SnowflakeSessions, AQueryThatWaitsForTheClockCanBeCancelled) {
    pqxx::connection connection;
    run(connection, "SET statement_timeout = '200ms'");
    // Far more IDs than the format allows in that time, so the call mostly waits.
    try {
        run(connection, "SELECT max(id) FROM next_snowflakes(2147483647) AS id");
        FAIL() << "the statement ended";
    } catch (const pqxx::sql_error& error) {
        EXPECT_EQ(error.sqlstate(), "57014");
    }
    run(connection, "RESET statement_timeout");
    run(connection, "SELECT next_snowflake()");
}

// PostgreSQL evaluates equal calls only once if workers evaluate them, even if they are volatile.
// Therefore, functions that draw run in the leader. A user's function that is labeled parallel safe
// can draw in workers.
TEST_F(SnowflakeSessions, ParallelQueriesRepeatNoId) {
    pqxx::connection connection;
    run(connection,
        "CREATE TABLE many AS SELECT n FROM generate_series(1, 300000) AS n;"
        "SET max_parallel_workers_per_gather = 4; SET parallel_setup_cost = 0;"
        "SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;"
        "SET parallel_leader_participation = off;"
        "ALTER TABLE many SET (parallel_workers = 4); ANALYZE many");
    for (const std::string call : {"next_snowflake()", "next_sno()", "gen_ulid()", "next_uuidv7()"})
        EXPECT_EQ(run(connection, "SELECT count(*) FILTER (WHERE a = b) FROM (SELECT " + call +
                                      " AS a, " + call + " AS b FROM many OFFSET 0) AS pairs")[0][0]
                      .as<int>(),
                  0)
            << call;
    // Only functions that are declared PARALLEL SAFE by mistake draw in workers. Sno values have no
    // watermark, so there is no error.
    run(connection,
        "CREATE FUNCTION draw() RETURNS sno LANGUAGE plpgsql PARALLEL SAFE"
        " AS 'BEGIN RETURN next_sno(); END'");
    const std::string query = "SELECT draw() AS id FROM many";
    std::string plan;
    for (const auto& row : run(connection, "EXPLAIN (VERBOSE, COSTS OFF) " + query))
        plan += row[0].as<std::string>() + "\n";
    const size_t scan = plan.find("->  Parallel Seq Scan");
    ASSERT_NE(scan, std::string::npos) << plan;
    EXPECT_NE(plan.find("Output: draw()", scan), std::string::npos) << plan;
    run(connection, "CREATE TABLE drawn AS " + query);
    EXPECT_EQ(run(connection, "SELECT count(DISTINCT id) FROM drawn")[0][0].as<int>(), 300'000);
    EXPECT_TRUE(
        run(connection,
            "SELECT mark >= max(id::timestamptz) FROM snowdrift.clock, drawn GROUP BY mark")[0][0]
            .as<bool>());
    run(connection, "DROP TABLE many, drawn; DROP FUNCTION draw()");
}

}  // namespace
}  // namespace snowdrift::test
