// Checks what clients have received against docs/guarantees.md: no ID is repeated, IDs are in
// order, no confirmed row is lost, and all errors are documented. Uses no server.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "chaos/history.hpp"

namespace snowdrift::chaos {

/// An ID as a hexadecimal number.
std::string text_of(const Id& id);

/// The first two neighbours that do not ascend strictly, if any.
std::optional<std::pair<Id, Id>> first_disorder(std::span<const Id> ids);

/// The IDs of a format that occur more than once in the files of a folder. Reads the files as often
/// as needed to have at most `ids_at_once` IDs in memory.
std::vector<Id> find_duplicates(const std::filesystem::path& folder, Format format,
                                size_t ids_at_once = size_t{1} << 28);

/// Compares receipts across sessions: if all IDs of one had been received before the draw of
/// another began, they are smaller.
class OrderCheck {
 public:
    /// Returns the receipt that contradicts this one: it ended before this one began, but has a
    /// greater ID. Receipts must be added in the order of `begin`.
    std::optional<Receipt> add(const Receipt& receipt);

 private:
    struct EndsLater {
        bool operator()(const Receipt& a, const Receipt& b) const { return a.end > b.end; }
    };
    struct State {
        std::priority_queue<Receipt, std::vector<Receipt>, EndsLater> open;
        std::optional<Receipt> greatest;  ///< of those that ended before the last `begin`
    };
    std::unordered_map<Stream, State> streams_;
};

/// Calls `use` with all receipts in the files of a folder, in the order of `begin`.
void for_each_receipt(const std::filesystem::path& folder,
                      const std::function<void(const Receipt&)>& use);

/// The contradictions in the files of a folder: duplicates and disorder, each described.
std::vector<std::string> describe_duplicates(const std::filesystem::path& folder);
std::vector<std::string> describe_disorder(const std::filesystem::path& folder);

/// The confirmed IDs of a lineage that are not among the stored ones.
std::vector<Id> find_lost(const std::filesystem::path& folder, unsigned lineage,
                          std::vector<Id> stored);

/// Whether docs/settings.md or PostgreSQL's manual names the error as a consequence of the faults
/// that could have an effect during the call.
bool is_documented(const Failure& failure, std::span<const Window> windows);

/// Whether none of these faults explains the finding.
bool stands(const Finding& finding, std::span<const Window> windows);

}  // namespace snowdrift::chaos
