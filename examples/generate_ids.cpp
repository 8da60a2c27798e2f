// g++ -std=c++20 -pthread -I include examples/generate_ids.cpp -o generate_ids
// ./generate_ids 7
//
// Generates IDs in several threads. The argument is this program's node: no other program that
// generates IDs for the same tables may have the same node.
#include <algorithm>
#include <cstddef>
#include <exception>
#include <future>
#include <iostream>
#include <set>
#include <snowdrift/generators.hpp>
#include <stdexcept>
#include <string>
#include <vector>

constexpr size_t threads = 4;
constexpr size_t ids_each = 10'000;

int main(int argc, char** argv) try {
    if (argc != 2) throw std::invalid_argument{"usage: generate_ids NODE"};
    const unsigned long node = std::stoul(argv[1]);
    snowdrift::SnowflakeGenerator snowflakes{node};
    snowdrift::UlidGenerator ulids;

    std::vector<std::vector<snowdrift::Snowflake>> drawn(threads);
    std::vector<std::future<void>> running;
    for (auto& mine : drawn) {
        running.push_back(std::async(std::launch::async, [&] {
            while (mine.size() < ids_each) mine.push_back(snowflakes.next());
        }));
    }
    for (auto& thread : running) thread.get();
    std::set<snowdrift::Snowflake> all;
    for (const auto& mine : drawn) all.insert(mine.begin(), mine.end());
    std::cout << all.size() << " distinct Snowflakes of node " << node << ", from " << *all.begin()
              << " to " << *all.rbegin() << ", in "
              << (all.rbegin()->time() - all.begin()->time()).count() << " ms\n";

    // The IDs of a unit of work: one time, in ascending order, without further clock readings.
    auto block = ulids.block();
    for (int i = 0; i < 3; ++i) std::cout << block.take() << '\n';
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
