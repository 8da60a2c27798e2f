#include "chaos/checker.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <iterator>
#include <string_view>

namespace snowdrift::chaos {
namespace {

namespace fs = std::filesystem;

constexpr size_t max_described = 10;

/// Distributes the IDs of a format evenly over `parts`.
size_t part_of(const Id& id, size_t parts) {
    return static_cast<size_t>((id.high ^ id.low) * 0x9e3779b97f4a7c15U >> 32U) % parts;
}

std::string describe(const Receipt& receipt) {
    std::array<char, 160> text{};
    (void)std::snprintf(text.data(), text.size(), "%s .. %s, client %u, %.6f to %.6f s",
                        text_of(receipt.first).c_str(), text_of(receipt.last).c_str(),
                        receipt.client, static_cast<double>(receipt.begin) * 1e-9,
                        static_cast<double>(receipt.end) * 1e-9);
    return text.data();
}

}  // namespace

std::string text_of(const Id& id) {
    std::array<char, 40> text{};
    (void)std::snprintf(text.data(), text.size(), "%016llx%016llx",
                        static_cast<unsigned long long>(id.high),
                        static_cast<unsigned long long>(id.low));
    return text.data();
}

std::optional<std::pair<Id, Id>> first_disorder(std::span<const Id> ids) {
    const auto found = std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>{});
    if (found == ids.end()) return std::nullopt;
    return std::pair{*found, *std::next(found)};
}

std::vector<Id> find_duplicates(const fs::path& folder, Format format, size_t ids_at_once) {
    const std::vector<fs::path> files = id_files(folder, format);
    size_t total = 0;
    for (const fs::path& file : files) total += fs::file_size(file) / sizeof(Id);
    const size_t parts = total / ids_at_once + 1;
    std::vector<Id> repeated;
    for (size_t part = 0; part < parts; ++part) {
        std::vector<Id> ids;
        ids.reserve(total / parts + total / parts / 8);
        for (const fs::path& file : files) {
            Reader<Id> reader{file};
            while (const auto id = reader.next())
                if (part_of(*id, parts) == part) ids.push_back(*id);
        }
        std::sort(ids.begin(), ids.end());
        for (auto at = ids.begin(); (at = std::adjacent_find(at, ids.end())) != ids.end();) {
            repeated.push_back(*at);
            at = std::upper_bound(at, ids.end(), *at);
        }
    }
    return repeated;
}

std::optional<Receipt> OrderCheck::add(const Receipt& receipt) {
    State& state = streams_[receipt.stream];
    for (; !state.open.empty() && state.open.top().end < receipt.begin; state.open.pop())
        if (!state.greatest || state.greatest->last < state.open.top().last)
            state.greatest = state.open.top();
    state.open.push(receipt);
    if (state.greatest && state.greatest->last >= receipt.first) return state.greatest;
    return std::nullopt;
}

void for_each_receipt(const fs::path& folder, const std::function<void(const Receipt&)>& use) {
    struct Source {
        Receipt next;
        size_t reader;
        bool operator<(const Source& other) const { return next.begin > other.next.begin; }
    };
    std::vector<Reader<Receipt>> readers;
    for (const fs::path& file : receipt_files(folder)) readers.emplace_back(file);
    std::priority_queue<Source> queue;
    const auto read_from = [&](size_t reader) {
        if (const auto next = readers[reader].next()) queue.push({*next, reader});
    };
    for (size_t i = 0; i < readers.size(); ++i) read_from(i);
    while (!queue.empty()) {
        const Source source = queue.top();
        queue.pop();
        use(source.next);
        read_from(source.reader);
    }
}

std::vector<std::string> describe_duplicates(const fs::path& folder) {
    std::vector<std::string> described;
    for (size_t i = 0; i < format_count; ++i) {
        const auto format = static_cast<Format>(i);
        const std::vector<Id> repeated = find_duplicates(folder, format);
        for (size_t n = 0; n < repeated.size() && n < max_described; ++n) {
            const Id& id = repeated[n];
            described.push_back(std::string{format_names[i]} + " " + text_of(id) + " is repeated");
            for_each_receipt(folder, [&](const Receipt& receipt) {
                if (source_of(receipt.stream).format == format && receipt.first <= id &&
                    id <= receipt.last)
                    described.back() += "\n    " + describe(receipt);
            });
        }
        if (repeated.size() > max_described)
            described.push_back("... " + std::to_string(repeated.size()) + " repeated " +
                                format_names[i] + "s in all");
    }
    return described;
}

std::vector<std::string> describe_disorder(const fs::path& folder) {
    std::vector<std::string> described;
    size_t count = 0;
    OrderCheck check;
    for_each_receipt(folder, [&](const Receipt& receipt) {
        const auto earlier = check.add(receipt);
        if (!earlier || ++count > max_described) return;
        described.push_back(std::string{source_of(receipt.stream).call} +
                            ": drawn later, but smaller" + "\n    " + describe(*earlier) +
                            "\n    " + describe(receipt));
    });
    if (count > max_described)
        described.push_back("... " + std::to_string(count) + " results out of order in all");
    return described;
}

std::vector<Id> find_lost(const fs::path& folder, unsigned lineage, std::vector<Id> stored) {
    std::vector<Id> confirmed;
    for (const fs::path& file : acknowledgement_files(folder, lineage)) {
        Reader<Id> reader{file};
        while (const auto id = reader.next()) confirmed.push_back(*id);
    }
    std::sort(confirmed.begin(), confirmed.end());
    std::sort(stored.begin(), stored.end());
    std::vector<Id> lost;
    std::set_difference(confirmed.begin(), confirmed.end(), stored.begin(), stored.end(),
                        std::back_inserter(lost));
    return lost;
}

// ---- errors

namespace {

struct Rule {
    std::string_view state;    ///< or a class, of two characters
    std::string_view message;  ///< a part of it
    std::optional<Fault> during;
};

constexpr std::string_view regression = "clock moved backwards by ";

constexpr std::array rules{
    // The server was stopped or has crashed, or the session was ended. The server's log shows
    // whether a crash was planned.
    Rule{"", "", Fault::any},
    Rule{"08", "", Fault::any},
    Rule{"57P01", "", Fault::any},
    Rule{"57P02", "", Fault::any},
    Rule{"57P03", "", Fault::any},
    Rule{"57014", "user request", Fault::cancellation},
    Rule{"55000", regression, Fault::clock},
    // The client of a prepared transaction ends it when it has a connection again.
    Rule{"55000", "while prepared transaction \"feeds ", std::nullopt},
    // Such a transaction has ended since the snapshot was taken.
    Rule{"55000", "watermark is unknown for this snapshot", Fault::any},
    // The primary has published none since the extension was created, or could read none.
    Rule{"55000", "no watermark of ", std::nullopt},
    // publish_watermarks() waits for a lock only briefly, such as one of a session that is stopped.
    Rule{"55P03", "lock timeout", std::nullopt},
    // The standby replays a lock or a removal of rows that the statement needs.
    Rule{"40001", "conflict with recovery", Fault::any},
    // The client has reached a server that is not promoted yet.
    Rule{"25006", "", Fault::recovery},
    // The disk is full.
    Rule{"53100", "", Fault::full_disk},
    Rule{"42501", "could not advance the ID mark", Fault::full_disk},
    // The generator, the extension or the table does not exist at the moment.
    Rule{"42704", "ID generator", Fault::generators},
    Rule{"42704", "", Fault::extension},
    Rule{"42883", "", Fault::extension},
    Rule{"42P01", "", Fault::extension},
    Rule{"42703", "", Fault::extension},
    Rule{"3F000", "", Fault::extension},
    Rule{"40P01", "", Fault::extension},
    Rule{"40001", "", Fault::extension},
    // PostgreSQL's own errors for objects that are dropped between a session's lookup and lock
    Rule{"XX000", "cache lookup failed for type", Fault::extension},
    Rule{"XX000", "cache lookup failed for function", Fault::extension},
    Rule{"0A000", "cached plan must not change result type", Fault::extension},
};

/// Whether the fault could have an effect on a failure or a finding.
template <typename Event>
bool is_during(const Event& event, Fault fault, std::span<const Window> windows) {
    return std::any_of(windows.begin(), windows.end(), [&](const Window& window) {
        return window.fault == fault && window.lineage == event.lineage &&
               event.begin <= window.end && window.begin <= event.end;
    });
}

/// Whether a message states a regression that is longer than the difference of two clocks that have
/// been stepped.
bool is_beyond_steps(std::string_view message) {
    const size_t found = message.find(regression);
    if (found == message.npos) return false;
    const std::string_view number = message.substr(found + regression.size());
    int64_t ms = 0;
    const auto parsed = std::from_chars(number.data(), number.data() + number.size(), ms);
    return parsed.ec != std::errc{} || static_cast<double>(ms) > 2000 * longest_clock_step_s;
}

}  // namespace

bool is_documented(const Failure& failure, std::span<const Window> windows) {
    if (is_beyond_steps(failure.message)) return false;
    return std::any_of(rules.begin(), rules.end(), [&](const Rule& rule) {
        const bool is_of_class = rule.state.size() == 2 && failure.state.starts_with(rule.state);
        if (failure.state != rule.state && !is_of_class) return false;
        return failure.message.find(rule.message) != std::string::npos &&
               (!rule.during || is_during(failure, *rule.during, windows));
    });
}

bool stands(const Finding& finding, std::span<const Window> windows) {
    return !finding.unless || !is_during(finding, *finding.unless, windows);
}

}  // namespace snowdrift::chaos
