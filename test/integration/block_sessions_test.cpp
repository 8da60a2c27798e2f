// ULIDs and UUIDs of version 7 from many concurrent sessions, and many of them in one transaction.
#include <string_view>
#include <utility>

#include "integration/sessions.hpp"

namespace snowdrift::test {
namespace {

using Texts = std::vector<std::string>;

Texts fetch_texts(pqxx::connection& connection, const std::string& query) {
    Texts texts;
    for (const auto& row : run(connection, query)) texts.push_back(row[0].as<std::string>());
    return texts;
}

/// A kind of IDs that transactions draw in blocks: its SQL type, and the SQL of its functions.
struct Kind {
    const char* type;
    const char* call;
    const char* timestamp;
    const char* random;  ///< the random bits of random IDs
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.call; }

class BlockSessions : public Server, public testing::WithParamInterface<Kind> {
 protected:
    /// `statement` with the kind's words for TYPE, NEXT, TIMESTAMP and RANDOM.
    static std::string of_kind(std::string statement) {
        const Kind& kind = GetParam();
        for (const auto& [word, value] : {std::pair{"TYPE", kind.type},
                                          {"NEXT", kind.call},
                                          {"TIMESTAMP", kind.timestamp},
                                          {"RANDOM", kind.random}})
            for (size_t at; (at = statement.find(word)) != statement.npos;)
                statement.replace(at, std::string_view{word}.size(), value);
        return statement;
    }
};

INSTANTIATE_TEST_SUITE_P(Kinds, BlockSessions,
                         testing::Values(Kind{"ulid", "next_ulid()", "ulid_timestamp",
                                              "ulid_randomness(gen_ulid())"},
                                         Kind{"uuid", "next_uuidv7()", "uuidv7_timestamp",
                                              "uuidv7_randomness(uuidv7_at('2026-01-01Z'))"}));

TEST_P(BlockSessions, FiveMillionIdsOfOneTransactionAscendAndHaveOneTime) {
    pqxx::connection connection;
    run(connection, of_kind("CREATE UNLOGGED TABLE drawn (n bigserial, id TYPE)"));
    run(connection, of_kind(R"(
        DO $$
        BEGIN
            INSERT INTO drawn (id) SELECT NEXT FROM generate_series(1, 2000000);
            BEGIN
                INSERT INTO drawn (id) SELECT NEXT FROM generate_series(1, 100000);
                RAISE division_by_zero;
            EXCEPTION WHEN division_by_zero THEN
            END;
            FOR i IN 1 .. 20 LOOP
                BEGIN
                    INSERT INTO drawn (id) SELECT NEXT FROM generate_series(1, 50000);
                    IF i % 4 = 0 THEN RAISE division_by_zero; END IF;
                EXCEPTION WHEN division_by_zero THEN
                    INSERT INTO drawn (id) SELECT NEXT FROM generate_series(1, 50000);
                END;
            END LOOP;
            INSERT INTO drawn (id) SELECT NEXT FROM generate_series(1, 2000000);
        END $$)"));
    const auto result = run(connection, of_kind(R"(
        SELECT count(*), count(DISTINCT TIMESTAMP(id)), bool_and(id > previous)
        FROM (SELECT id, lag(id) OVER (ORDER BY n) AS previous FROM drawn) AS pairs)"));
    EXPECT_EQ(result[0][0].as<int>(), 5'000'000);
    EXPECT_EQ(result[0][1].as<int>(), 1);
    EXPECT_TRUE(result[0][2].as<bool>());
    run(connection, "DROP TABLE drawn");
}

TEST_P(BlockSessions, IdsAscendAcrossSuccessiveTransactionsOfDifferentSessions) {
    constexpr int sessions = 4;
    std::vector<std::unique_ptr<pqxx::connection>> connections;
    for (int i = 0; i < sessions; ++i) connections.push_back(std::make_unique<pqxx::connection>());
    std::string last;
    for (int i = 0; i < 8000; ++i) {
        const Texts texts = fetch_texts(*connections[i % sessions],
                                        of_kind("SELECT NEXT FROM generate_series(1, 3)"));
        for (const auto& text : texts) {
            ASSERT_GT(text, last) << "transaction " << i;
            last = text;
        }
    }
}

TEST_P(BlockSessions, SixteenSessionsDrawDistinctIdsInStatementsAndAsDefaults) {
    constexpr int sessions = 16;
    constexpr int each = 20'000;
    pqxx::connection setup;
    run(setup, of_kind("CREATE UNLOGGED TABLE notes (id TYPE DEFAULT NEXT, session int)"));
    // Committing inside the server is the fastest way to run this many transactions.
    run(setup, of_kind(R"(
        CREATE PROCEDURE draw(session int, times int) LANGUAGE plpgsql AS $$
        BEGIN
            FOR i IN 1 .. times LOOP
                IF i % 2 = 0 THEN INSERT INTO notes (session) VALUES (draw.session);
                ELSE INSERT INTO notes (id, session) SELECT NEXT, draw.session;
                END IF;
                COMMIT;
            END LOOP;
        END $$)"));
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

TEST_P(BlockSessions, SessionsOfOneServerShareNoRandomBits) {
    constexpr int sessions = 16;
    std::vector<Texts> texts(sessions);
    in_parallel(sessions, [&](int i) {
        pqxx::connection connection;
        texts.at(i) = fetch_texts(connection, of_kind("SELECT encode(RANDOM, 'hex')"
                                                      " FROM generate_series(1, 2000)"));
    });
    Texts all;
    for (const auto& mine : texts) all.insert(all.end(), mine.begin(), mine.end());
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all.size(), size_t{sessions} * 2000);
    EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
}

}  // namespace
}  // namespace snowdrift::test
