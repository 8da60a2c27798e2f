// ULIDs from many concurrent sessions, and many ULIDs in one transaction.
#include <atomic>

#include "integration/sessions.hpp"

namespace snowdrift::test {
namespace {

using Texts = std::vector<std::string>;

Texts fetch_texts(pqxx::connection& connection, const std::string& query) {
    Texts texts;
    for (const auto& row : run(connection, query)) texts.push_back(row[0].as<std::string>());
    return texts;
}

class UlidSessions : public Server {};

TEST_F(UlidSessions, FiveMillionOfOneTransactionAscendAndHaveOneTime) {
    pqxx::connection connection;
    run(connection, "CREATE UNLOGGED TABLE drawn (n bigserial, id ulid)");
    run(connection, R"(
        DO $$
        BEGIN
            INSERT INTO drawn (id) SELECT next_ulid() FROM generate_series(1, 2000000);
            BEGIN
                INSERT INTO drawn (id) SELECT next_ulid() FROM generate_series(1, 100000);
                RAISE division_by_zero;
            EXCEPTION WHEN division_by_zero THEN
            END;
            FOR i IN 1 .. 20 LOOP
                BEGIN
                    INSERT INTO drawn (id) SELECT next_ulid() FROM generate_series(1, 50000);
                    IF i % 4 = 0 THEN RAISE division_by_zero; END IF;
                EXCEPTION WHEN division_by_zero THEN
                    INSERT INTO drawn (id) SELECT gen_monotonic_ulid() FROM generate_series(1, 50000);
                END;
            END LOOP;
            INSERT INTO drawn (id) SELECT next_ulid() FROM generate_series(1, 2000000);
        END $$)");
    const auto result = run(connection, R"(
        SELECT count(*), count(DISTINCT ulid_timestamp(id)), bool_and(id > previous)
        FROM (SELECT id, lag(id) OVER (ORDER BY n) AS previous FROM drawn) AS pairs)");
    EXPECT_EQ(result[0][0].as<int>(), 5'000'000);
    EXPECT_EQ(result[0][1].as<int>(), 1);
    EXPECT_TRUE(result[0][2].as<bool>());
    run(connection, "DROP TABLE drawn");
}

TEST_F(UlidSessions, TransactionsOneAfterAnotherInDifferentSessionsFollowEachOther) {
    constexpr int sessions = 4;
    std::vector<std::unique_ptr<pqxx::connection>> connections;
    for (int i = 0; i < sessions; ++i) connections.push_back(std::make_unique<pqxx::connection>());
    std::string last;
    for (int i = 0; i < 8000; ++i) {
        const Texts texts = fetch_texts(*connections[i % sessions],
                                        "SELECT next_ulid() FROM generate_series(1, 3)");
        for (const auto& text : texts) {
            ASSERT_GT(text, last) << "transaction " << i;
            last = text;
        }
    }
}

TEST_F(UlidSessions, SixteenSessionsDrawDistinctOnesInStatementsAndAsDefaults) {
    constexpr int sessions = 16;
    constexpr int each = 200'000;
    pqxx::connection setup;
    run(setup, "CREATE UNLOGGED TABLE notes (id ulid DEFAULT next_ulid(), session int)");
    // Committing inside the server is the fastest way to run this many transactions.
    run(setup, R"(
        CREATE PROCEDURE draw(session int, times int) LANGUAGE plpgsql AS $$
        BEGIN
            FOR i IN 1 .. times LOOP
                IF i % 2 = 0 THEN INSERT INTO notes (session) VALUES (draw.session);
                ELSE INSERT INTO notes (id, session) SELECT next_ulid(), draw.session;
                END IF;
                COMMIT;
            END LOOP;
        END $$)");
    in_parallel(sessions, [&](int i) {
        pqxx::connection connection;
        run(connection, "SET synchronous_commit = off");
        run(connection, "CALL draw(" + std::to_string(i) + ", " + std::to_string(each) + ")");
    });
    const auto result = run(setup, "SELECT count(*), count(DISTINCT id) FROM notes");
    EXPECT_EQ(result[0][0].as<int>(), sessions * each);
    EXPECT_EQ(result[0][1].as<int>(), sessions * each);
    run(setup, "DROP TABLE notes; DROP PROCEDURE draw");
}

TEST_F(UlidSessions, SessionsOfOneServerShareNoRandomBits) {
    constexpr int sessions = 16;
    std::vector<Texts> texts(sessions);
    in_parallel(sessions, [&](int i) {
        pqxx::connection connection;
        texts.at(i) = fetch_texts(connection,
                                  "SELECT encode(ulid_randomness(gen_ulid()), 'hex')"
                                  " FROM generate_series(1, 2000)");
    });
    Texts all;
    for (const auto& mine : texts) all.insert(all.end(), mine.begin(), mine.end());
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all.size(), size_t{sessions} * 2000);
    EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
}

}  // namespace
}  // namespace snowdrift::test
