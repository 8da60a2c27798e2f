#include "chaos/feeds.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <stdexcept>

#include "chaos/checker.hpp"

namespace snowdrift::chaos {
namespace {

constexpr size_t max_described = 10;

std::string default_of(const Feed& feed) {
    return " DEFAULT " + feed.value(sources[*feed.source].call);
}

std::string watch(const Feed& feed) {
    return std::string{"SELECT snowdrift.watch('"} + feed.table + "');\n";
}

std::string in_seconds(Time time) {
    std::array<char, 32> text{};
    (void)std::snprintf(text.data(), text.size(), "%.6f s", static_cast<double>(time) * 1e-9);
    return text.data();
}

}  // namespace

Id Feed::require_id(const char* text) const {
    const auto id = parse_id(format(), text);
    if (!id) throw std::runtime_error{std::string{table} + " has no ID, but " + text};
    return *id;
}

std::string create_feeds() {
    std::string statements =
        "CREATE TABLE positions (poller text, feed text, id bigint, PRIMARY KEY (poller, feed));\n";
    for (const Feed& feed : feeds) {
        statements += std::string{"CREATE TABLE "} + feed.table + " (id " + feed.column +
                      " PRIMARY KEY" +
                      (feed.source ? default_of(feed) : " GENERATED ALWAYS AS IDENTITY") + ");\n";
        if (!feed.source) statements += watch(feed);
    }
    return statements;
}

std::string restore_feeds() {
    std::string statements;
    for (const Feed& feed : feeds)
        statements += feed.source ? std::string{"ALTER TABLE "} + feed.table + " ALTER id SET" +
                                        default_of(feed) + ";\n"
                                  : watch(feed);
    return statements;
}

void OpenTransactions::add(uint32_t client, size_t feed, const Id& lowest, Time now) {
    const std::lock_guard lock{mutex_};
    auto& drawn = transactions_[client].drawn[feed];
    if (!drawn) drawn = {lowest, now};
}

void OpenTransactions::compare(size_t feed, const Id& watermark, Time begin) {
    const std::lock_guard lock{mutex_};
    for (auto& [client, transaction] : transactions_) {
        const auto& drawn = transaction.drawn[feed];
        if (!drawn || drawn->time >= begin || drawn->lowest >= watermark) continue;
        if (transaction.error) continue;
        transaction.error = std::string{feeds[feed].table} + ": at " + in_seconds(begin) +
                            ", a poller's watermark was at least " + text_of(watermark) +
                            ", but the transaction of client " + std::to_string(client) +
                            " that had drawn " + text_of(drawn->lowest) + " at " +
                            in_seconds(drawn->time) + " was open";
    }
}

std::optional<std::string> OpenTransactions::remove(uint32_t client) {
    const std::lock_guard lock{mutex_};
    const auto found = transactions_.find(client);
    if (found == transactions_.end()) return std::nullopt;
    std::optional<std::string> error = std::move(found->second.error);
    transactions_.erase(found);
    return error;
}

std::vector<std::string> describe_misread(const Feed& feed, const std::vector<ReadRow>& read,
                                          std::vector<Id> stored) {
    std::vector<std::string> described;
    const std::string table = std::string{feed.table} + ": ";
    for (size_t i = 1; i < read.size(); ++i)
        if (read[i].id <= read[i - 1].id && described.size() < max_described)
            described.push_back(table + text_of(read[i].id) +
                                (read[i].id == read[i - 1].id ? " was read twice" : " was read") +
                                " after " + text_of(read[i - 1].id));
    std::vector<Id> ids;
    ids.reserve(read.size());
    for (const ReadRow& row : read) ids.push_back(row.id);
    std::sort(ids.begin(), ids.end());
    std::sort(stored.begin(), stored.end());
    std::vector<Id> missed;
    std::set_difference(stored.begin(), stored.end(), ids.begin(), ids.end(),
                        std::back_inserter(missed));
    for (size_t i = 0; i < missed.size() && i < max_described; ++i) {
        const auto next = std::find_if(read.begin(), read.end(),
                                       [&](const ReadRow& row) { return row.id > missed[i]; });
        described.push_back(table + text_of(missed[i]) + " was never read" +
                            (next == read.end() ? ""
                                                : ", but " + text_of(next->id) + " was, at " +
                                                      in_seconds(next->time)));
    }
    if (missed.size() > max_described)
        described.push_back(table + std::to_string(missed.size()) + " rows missed in all");
    return described;
}

}  // namespace snowdrift::chaos
