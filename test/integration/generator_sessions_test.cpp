// Named generators in many concurrent sessions.
#include <atomic>

#include "integration/sessions.hpp"

namespace snowdrift::test {
namespace {

class GeneratorSessions : public Server {
 protected:
    static constexpr int sessions = 8;

    void create(const std::string& name, const std::string& definition) {
        run(setup, "SELECT snowdrift.create_generator('" + name + "', " + definition + ")");
        names.push_back(name);
    }

    void TearDown() override {
        for (const auto& name : names)
            run(setup, "SELECT snowdrift.drop_generator('" + name + "')");
    }

    pqxx::connection setup;
    std::vector<std::string> names;
};

TEST_F(GeneratorSessions, DrawDistinctIdsWithinTheBoundsFromThreeLayoutsAtOnce) {
    create("classic", "'snowflake', worker => 7");
    create("quarter",
           "'snowflake', layout => 'twitter', sequence_min => 1024, sequence_max => 2047");
    create("narrow", "'snowflake', layout => 'si', sequence_max => 127");
    std::vector<std::vector<Ids>> ids(names.size(), std::vector<Ids>(sessions));
    in_parallel(sessions, [&](int i) {
        pqxx::connection connection;
        for (int round = 0; round < 10; ++round)
            for (size_t g = 0; g < names.size(); ++g)
                fetch(connection,
                      "SELECT next_snowflake('" + names[g] + "') FROM generate_series(1, 1000)",
                      ids[g].at(i));
    });
    for (const auto& of_generator : ids) {
        expect_all_distinct(of_generator);
        for (const auto& mine : of_generator) {
            EXPECT_EQ(mine.size(), 10'000U);
            EXPECT_TRUE(strictly_ascending(mine));
        }
    }
    for (const int64_t id : ids[1][0]) ASSERT_TRUE((id & 4095) >= 1024 && (id & 4095) <= 2047);
    for (const int64_t id : ids[2][0]) ASSERT_LE(id & 255, 127);
}

TEST_F(GeneratorSessions, APoolOfFourGivesEightSessionsFourIdsAUnitAndShowsThatTheyWait) {
    create("pool", "'sno', partition => 9, sequence_min => 100, sequence_max => 103");
    run(setup, "CREATE UNLOGGED TABLE drawn (id sno)");
    constexpr int each = 500;
    std::atomic<int> done{0};
    bool seen = false;
    in_parallel(sessions + 1, [&](int i) {
        pqxx::connection connection;
        if (i == sessions) {  // the session that reads the view
            while (done < sessions && !seen)
                seen = run(connection,
                           "SELECT coalesce(waiting > 0 AND overflow_duration > '0', false)"
                           " FROM snowdrift.generators"
                           " WHERE name = 'pool'")[0][0]
                           .as<bool>();
            return;
        }
        run(connection, "INSERT INTO drawn SELECT next_sno('pool') FROM generate_series(1, " +
                            std::to_string(each) + ")");
        ++done;
    });
    EXPECT_TRUE(seen);
    const auto drawn = run(setup, R"(
        SELECT count(*), count(DISTINCT id), min(sno_sequence(id)), max(sno_sequence(id)),
            extract(epoch FROM max(sno_timestamp(id)) - min(sno_timestamp(id))) * 1000 + 4
        FROM drawn)");
    EXPECT_EQ(drawn[0][0].as<int>(), sessions * each);
    EXPECT_EQ(drawn[0][1].as<int>(), sessions * each);
    EXPECT_EQ(drawn[0][2].as<int>(), 100);
    EXPECT_EQ(drawn[0][3].as<int>(), 103);
    // At most 1000 IDs per second, by the IDs' own times, so independently of the machine's speed.
    EXPECT_GE(drawn[0][4].as<double>(), sessions * each);
    const auto state = run(setup,
                           "SELECT waiting, overflow_episodes FROM snowdrift.generators"
                           " WHERE name = 'pool'");
    EXPECT_EQ(state[0][0].as<int>(), 0);
    EXPECT_GE(state[0][1].as<int>(), 1);
    run(setup, "DROP TABLE drawn");
}

TEST_F(GeneratorSessions, ADropIsSeenByTheNextStatementOfOtherSessions) {
    create("gone", "'snowflake'");
    pqxx::connection other;
    run(other, "SELECT next_snowflake('gone')");
    run(setup, "SELECT snowdrift.drop_generator('gone')");
    names.clear();
    try {
        run(other, "SELECT next_snowflake('gone')");
        FAIL() << "it still generates";
    } catch (const pqxx::sql_error& error) {
        EXPECT_EQ(error.sqlstate(), "42704");
    }
}

}  // namespace
}  // namespace snowdrift::test
