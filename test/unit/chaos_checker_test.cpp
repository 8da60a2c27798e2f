// The checker of the chaos run finds planted contradictions in what clients have received.
#include "chaos/checker.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "chaos/history.hpp"
#include "snowdrift/sno.hpp"

namespace snowdrift::chaos {
namespace {

namespace fs = std::filesystem;

// Positions in `sources`
constexpr size_t snowflake = 0;
constexpr size_t own = 1;
constexpr size_t sno = 3;
constexpr size_t ulid = 5;

constexpr Id number(uint64_t value) { return {0, value}; }
constexpr Id ulid_at(uint64_t ms, uint64_t random) { return {ms << 16, random}; }
constexpr Id sno_at(uint64_t units, unsigned tick, uint64_t sequence) {
    return {units << 25 | uint64_t{tick} << 24, sequence};
}

std::vector<Id> numbers(uint64_t first, uint64_t last) {
    std::vector<Id> ids;
    for (uint64_t value = first; value <= last; ++value) ids.push_back(number(value));
    return ids;
}

/// A history of a few clients in a temporary folder.
class ChaosChecker : public testing::Test {
 protected:
    ChaosChecker() { fs::create_directories(folder_); }
    ~ChaosChecker() override { fs::remove_all(folder_); }

    /// What a client receives in one transaction.
    struct Call {
        size_t source;
        Time begin, end;
        std::vector<Id> ids;
    };

    void transaction(uint32_t client, const std::vector<Call>& calls) {
        Recorder recorder{folder_, client, 0};
        for (const Call& call : calls)
            recorder.receive(call.source, call.begin, call.end, call.ids);
        recorder.end_transaction();
        for (const Finding& finding : recorder.findings()) findings_.push_back(finding);
    }

    void acknowledge(uint32_t client, unsigned lineage, const std::vector<Id>& ids) {
        Recorder recorder{folder_, client, lineage};
        for (const Id& id : ids) recorder.acknowledge(id);
    }

    void expect_clean() const {
        EXPECT_EQ(describe_duplicates(folder_), std::vector<std::string>{});
        EXPECT_EQ(describe_disorder(folder_), std::vector<std::string>{});
        EXPECT_TRUE(findings_.empty());
    }

    void expect_disorder(size_t results) const {
        EXPECT_EQ(describe_disorder(folder_).size(), results);
        EXPECT_EQ(describe_duplicates(folder_), std::vector<std::string>{});
    }

    fs::path folder_ = fs::temp_directory_path() / ("snowdrift_chaos." + std::to_string(getpid()));
    std::vector<Finding> findings_;
};

TEST_F(ChaosChecker, PassesACleanHistory) {
    transaction(1, {{snowflake, 10, 20, numbers(1, 100)}, {own, 21, 25, numbers(5000, 5001)}});
    transaction(2, {{snowflake, 30, 40, numbers(101, 200)}});
    transaction(1, {{snowflake, 50, 60, numbers(201, 300)}});
    transaction(3, {{ulid, 10, 20, {ulid_at(7, 1), ulid_at(7, 2)}}});
    transaction(4, {{sno, 10, 20, {sno_at(5, 0, 1), sno_at(5, 0, 2), sno_at(4, 1, 0)}}});
    expect_clean();
}

TEST_F(ChaosChecker, FindsADuplicateOfTwoClients) {
    transaction(1, {{snowflake, 10, 20, numbers(1, 100)}});
    transaction(2, {{snowflake, 15, 20, {number(101), number(150)}}});
    transaction(3, {{snowflake, 12, 22, {number(40)}}});
    EXPECT_EQ(find_duplicates(folder_, Format::snowflake), std::vector{number(40)});
    const auto described = describe_duplicates(folder_);
    ASSERT_EQ(described.size(), 1U);
    EXPECT_NE(described[0].find("client 1"), std::string::npos);
    EXPECT_NE(described[0].find("client 3"), std::string::npos);
    EXPECT_EQ(described[0].find("client 2"), std::string::npos);
}

TEST_F(ChaosChecker, FindsDuplicatesOfTwoGeneratorsAndServers) {
    transaction(1, {{snowflake, 10, 20, numbers(1, 100)}});
    transaction(2, {{own, 10, 20, {number(7)}}});
    Recorder{folder_, 3, 1}.receive(snowflake, 30, 40, {number(9)});
    EXPECT_EQ(find_duplicates(folder_, Format::snowflake), (std::vector{number(7), number(9)}));
}

TEST_F(ChaosChecker, FindsDuplicatesWithLittleMemory) {
    transaction(1, {{snowflake, 10, 20, numbers(1, 10'000)}});
    transaction(2, {{snowflake, 10, 20, {number(1), number(5000), number(10'000)}}});
    EXPECT_EQ(find_duplicates(folder_, Format::snowflake, 500).size(), 3U);
}

TEST_F(ChaosChecker, FindsASwappedPairInAResult) {
    transaction(1, {{snowflake, 10, 20, {number(1), number(3), number(2), number(4)}}});
    EXPECT_EQ(findings_.size(), 1U);
}

TEST_F(ChaosChecker, FindsASwappedPairOfASession) {
    transaction(1, {{snowflake, 10, 20, {number(2)}}, {snowflake, 21, 30, {number(1)}}});
    expect_disorder(1);
}

TEST_F(ChaosChecker, FindsASwappedPairOfTwoSessions) {
    transaction(1, {{snowflake, 10, 20, {number(2)}}});
    transaction(2, {{snowflake, 21, 30, {number(1)}}});
    expect_disorder(1);
}

TEST_F(ChaosChecker, FindsTheFirstIdOfAResultOutOfOrder) {
    transaction(1, {{snowflake, 10, 20, numbers(1, 9)}});
    transaction(2, {{snowflake, 21, 30, {number(0), number(10)}}});
    expect_disorder(1);
}

TEST_F(ChaosChecker, AcceptsAnyOrderOfSimultaneousDraws) {
    transaction(1, {{snowflake, 10, 20, {number(2)}}});
    transaction(2, {{snowflake, 20, 30, {number(1)}}});
    expect_clean();
}

TEST_F(ChaosChecker, AcceptsAnyOrderOfTwoGenerators) {
    transaction(1, {{snowflake, 10, 20, {number(2)}}});
    transaction(2, {{own, 30, 40, {number(1)}}});
    expect_clean();
}

TEST_F(ChaosChecker, RemembersTheGreatestIdOfLongAgo) {
    transaction(1, {{snowflake, 10, 20, {number(1000)}}});
    for (uint32_t client = 2; client < 50; ++client)
        transaction(client, {{snowflake, 15, 1000 + client, {number(client)}}});
    transaction(50, {{snowflake, 5000, 5001, {number(999)}}});
    expect_disorder(1);
}

TEST_F(ChaosChecker, FindsASwappedPairInOneTimelineOfSnos) {
    transaction(1, {{sno, 10, 20, {sno_at(9, 0, 1)}}});
    transaction(2, {{sno, 30, 40, {sno_at(5, 1, 0)}}});
    transaction(3, {{sno, 50, 60, {sno_at(8, 0, 0)}}});
    expect_disorder(1);
}

TEST_F(ChaosChecker, OrdersUlidsByTheFirstCallOfTheirTransactions) {
    transaction(1, {{ulid, 10, 20, {ulid_at(7, 1)}}, {ulid, 70, 80, {ulid_at(7, 2)}}});
    transaction(2, {{ulid, 30, 40, {ulid_at(7, 900)}}});
    expect_clean();
}

TEST_F(ChaosChecker, FindsAUlidThatSortsAfterThoseOfALaterTransaction) {
    transaction(1, {{ulid, 10, 20, {ulid_at(7, 1)}}, {ulid, 70, 80, {ulid_at(7, 1000)}}});
    transaction(2, {{ulid, 30, 40, {ulid_at(7, 900)}}});
    expect_disorder(1);
}

TEST_F(ChaosChecker, FindsASwappedPairOfUlidsInATransaction) {
    transaction(1, {{ulid, 10, 20, {ulid_at(7, 5)}}, {ulid, 21, 30, {ulid_at(7, 4)}}});
    EXPECT_EQ(findings_.size(), 1U);
    transaction(2,
                {{ulid, 40, 50, {ulid_at(8, 5), ulid_at(8, 9)}}, {ulid, 51, 60, {ulid_at(8, 9)}}});
    EXPECT_EQ(findings_.size(), 2U);
}

TEST_F(ChaosChecker, FindsTwoTimesInATransaction) {
    transaction(1, {{ulid, 10, 20, {ulid_at(7, 1)}}, {ulid, 21, 30, {ulid_at(8, 1)}}});
    ASSERT_EQ(findings_.size(), 1U);
    const Window window{25, 40, 0, Fault::extension};
    EXPECT_TRUE(stands(findings_[0], {}));
    EXPECT_FALSE(stands(findings_[0], {&window, 1}));
}

TEST_F(ChaosChecker, FindsALostId) {
    acknowledge(1, 0, {number(1), number(3)});
    acknowledge(2, 0, {number(2)});
    acknowledge(3, 1, {number(9)});
    EXPECT_EQ(find_lost(folder_, 0, numbers(1, 4)), std::vector<Id>{});
    EXPECT_EQ(find_lost(folder_, 0, {number(3), number(1)}), std::vector{number(2)});
}

TEST_F(ChaosChecker, FindsUndocumentedErrors) {
    const std::vector<Window> windows{{0, 500, 0, Fault::any},
                                      {100, 200, 0, Fault::full_disk},
                                      {300, 400, 0, Fault::clock},
                                      {300, 400, 0, Fault::cancellation}};
    const auto is_expected = [&](const char* state, const char* message, Time at,
                                 unsigned lineage) {
        return is_documented(Failure{at, at + 10, lineage, state, message}, windows);
    };
    EXPECT_TRUE(is_expected("", "server closed the connection unexpectedly", 450, 0));
    EXPECT_FALSE(is_expected("", "server closed the connection unexpectedly", 501, 0));
    EXPECT_TRUE(is_expected("57P01", "terminating connection", 450, 0));
    EXPECT_FALSE(is_expected("57P01", "terminating connection", 501, 0));
    EXPECT_FALSE(is_expected("57014", "canceling statement due to statement timeout", 450, 0));
    EXPECT_TRUE(is_expected("57014", "canceling statement due to user request", 350, 0));
    EXPECT_FALSE(is_expected("57014", "canceling statement due to user request", 450, 0));
    EXPECT_TRUE(is_expected("55000", "clock moved backwards by 70000 ms; refusing", 350, 0));
    EXPECT_FALSE(is_expected("55000", "clock moved backwards by 70000 ms; refusing", 450, 0));
    EXPECT_FALSE(is_expected("55000", "clock moved backwards by 600001 ms; refusing", 350, 0));
    EXPECT_FALSE(is_expected("55000", "table \"snowdrift_tables.mark\" is empty", 350, 0));
    EXPECT_TRUE(is_expected("55000", "no watermark of table \"feed_serial\" is published", 600, 0));
    EXPECT_TRUE(is_expected("40001", "canceling statement due to conflict with recovery", 450, 0));
    EXPECT_FALSE(is_expected("40001", "canceling statement due to conflict with recovery", 501, 0));
    EXPECT_FALSE(is_expected("40001", "could not serialize access", 450, 0));
    EXPECT_FALSE(is_expected("XX000", "cache lookup failed for type 16384", 150, 0));
    EXPECT_FALSE(is_expected("XX000", "cache lookup failed for function 16384", 150, 0));
    EXPECT_FALSE(is_expected("23505", "duplicate key value", 150, 0));
    EXPECT_TRUE(is_expected("53100", "could not advance the ID mark", 195, 0));
    EXPECT_FALSE(is_expected("53100", "could not advance the ID mark", 201, 0));
    EXPECT_FALSE(is_expected("53100", "could not advance the ID mark", 150, 1));
}

TEST(ChaosIds, AreParsedInTheOrderOfTheirFormats) {
    EXPECT_EQ(parse_id(Format::snowflake, "132271570944274432"), number(132271570944274432));
    EXPECT_EQ(parse_id(Format::snowflake, "12x"), std::nullopt);
    EXPECT_EQ(parse_id(Format::ulid, "00000000010000000000000001"), ulid_at(1, 1));
    EXPECT_EQ(parse_id(Format::uuidv7, "019fcb0f-5e1a-7c3d-9a41-0f6d2b7c8e95"),
              (Id{0x019fcb0f5e1a7c3d, 0x9a410f6d2b7c8e95}));
    EXPECT_EQ(parse_id(Format::uuidv7, "019fcb0f-5e1a-4c3d-9a41-0f6d2b7c8e95"), std::nullopt);
    const Sno sno = Sno::compose({.units = 77, .tick = true, .partition = 3, .sequence = 9});
    const auto text = sno.text();
    const auto id = parse_id(Format::sno, {text.data(), text.size()});
    ASSERT_TRUE(id);
    EXPECT_EQ(*id, (Id{sno.high(), 9}));
    EXPECT_EQ(tick_of(*id), 1U);
}

}  // namespace
}  // namespace snowdrift::chaos
