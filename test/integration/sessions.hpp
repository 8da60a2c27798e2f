// Shared code of the integration tests: many concurrent sessions on the server that PGHOST names.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <pqxx/pqxx>
#include <string>
#include <thread>
#include <vector>

namespace snowdrift::test {

using Ids = std::vector<int64_t>;

/// Runs one statement in `connection`, autocommitted.
inline pqxx::result run(pqxx::connection& connection, const std::string& statement) {
    pqxx::nontransaction transaction{connection};
    return transaction.exec(statement);
}

/// The bigints that `query` returns in its first column, appended to `ids`.
inline void fetch(pqxx::connection& connection, const std::string& query, Ids& ids) {
    const pqxx::result result = run(connection, query);
    for (const auto& row : result) ids.push_back(row[0].as<int64_t>());
}

/// Runs `work` in `n` concurrent threads, with the number of each, and waits for all. An exception
/// in a thread fails the test.
inline void in_parallel(int n, const std::function<void(int)>& work) {
    std::vector<std::thread> threads;
    std::vector<std::string> errors(static_cast<size_t>(n));
    for (int i = 0; i < n; ++i) {
        threads.emplace_back([&work, &error = errors[static_cast<size_t>(i)], i] {
            try {
                work(i);
            } catch (const std::exception& e) {
                error = e.what();
            }
        });
    }
    for (auto& thread : threads) thread.join();
    for (const auto& error : errors) EXPECT_EQ(error, "");
}

inline bool strictly_ascending(const Ids& ids) {
    return std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>()) == ids.end();
}

inline void expect_all_distinct(const std::vector<Ids>& of_sessions) {
    Ids all;
    for (const auto& ids : of_sessions) all.insert(all.end(), ids.begin(), ids.end());
    std::sort(all.begin(), all.end());
    const auto repeat = std::adjacent_find(all.begin(), all.end());
    EXPECT_EQ(repeat, all.end()) << "issued twice: " << *repeat;
}

/// A server with the extension created.
class Server : public testing::Test {
 protected:
    static void SetUpTestSuite() {
        pqxx::connection connection;
        run(connection, "CREATE EXTENSION IF NOT EXISTS snowdrift");
    }
};

}  // namespace snowdrift::test
