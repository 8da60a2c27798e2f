// A slow model of snapshots, from docs/snapshots.md: which ones are valid, and what they contain.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/calendar.hpp"
#include "fuzz/layout_model.hpp"
#include "fuzz/model.hpp"

namespace snowdrift::model {

/// The fields of a valid snapshot: strings, numbers, and times as Unix milliseconds. The times of
/// sno values are in units of 4 ms since 2010. A field that is null is absent.
using Snapshot = std::map<std::string, std::string>;

/// Reads the fields of a JSON object, whose values are JSON.
class SnapshotReader {
 public:
    explicit SnapshotReader(const std::vector<std::pair<std::string, std::string>>& fields) {
        for (const auto& [name, value] : fields) values_[name] = value;
    }

    /// The snapshot; nothing if it is invalid.
    std::optional<Snapshot> read() {
        require(number("version", UINT32_MAX) == 1);
        const std::string kind = text("kind");
        result_["kind"] = kind;
        if (kind == "snowflake")
            read_snowflake();
        else if (kind == "sno")
            read_sno();
        else
            require(false);
        require(time("now", 0, *parse_utc("9999-12-31T23:59:59.999Z")).has_value());
        require(values_.empty());
        if (!is_valid_) return std::nullopt;
        return result_;
    }

 private:
    void require(bool condition) { is_valid_ = is_valid_ && condition; }

    /// The value of a field, as JSON. Removes the field.
    std::string take(const std::string& name) {
        const auto found = values_.find(name);
        require(found != values_.end());
        if (found == values_.end()) return "null";
        const std::string value = found->second;
        values_.erase(found);
        return value;
    }

    std::string text(const std::string& name) {
        const std::string value = take(name);
        require(value[0] == '"');
        if (value[0] != '"') return "";
        std::string result;
        for (size_t i = 1; i + 1 < value.size(); ++i) {
            if (value[i] == '\\') ++i;
            result += value[i];
        }
        return result;
    }

    /// A number from 0 to `max`; nothing if the value is null, or not such a number.
    std::optional<uint64_t> optional_number(const std::string& name, uint64_t max) {
        std::string value = take(name);
        if (value == "null") return std::nullopt;
        if (value == "1e3") value = "1000";
        if (value == "-0") value = "0";
        Wide sum = 0;
        for (const char c : value) {
            if (c < '0' || c > '9') sum = -1;
            if (sum >= 0) sum = sum * 10 + (c - '0');
        }
        const bool is_in_range = sum >= 0 && sum <= max;
        require(is_in_range);
        if (!is_in_range) return std::nullopt;
        result_[name] = std::to_string(static_cast<uint64_t>(sum));
        return static_cast<uint64_t>(sum);
    }

    uint64_t number(const std::string& name, uint64_t max) {
        const auto value = optional_number(name, max);
        require(value.has_value());
        return value.value_or(0);
    }

    /// A time; nothing if the value is null, or not a time. Requires that it is from `first` to
    /// `last`.
    std::optional<int64_t> time(const std::string& name, Wide first, Wide last) {
        const std::string value = take(name);
        if (value == "null") return std::nullopt;
        const auto time = value[0] == '"' ? parse_utc(value.substr(1, value.size() - 2))
                                          : std::optional<int64_t>{};
        require(time && *time >= first && *time <= last);
        return time;
    }

    /// A time in units of sno values. A null, or a time in the first unit, is 0.
    uint64_t units(const std::string& name) {
        const int64_t first = *parse_utc("2010-01-01T00:00:00Z");
        const auto unix_ms = time(name, first, *parse_utc("2079-09-07T15:47:35.548Z"));
        if (!unix_ms || *unix_ms < first) return 0;
        return static_cast<uint64_t>(*unix_ms - first) / 4;
    }

    /// A field that may be missing: true or false. Returns whether it is true.
    bool flag(const std::string& name) {
        const std::string value = values_.contains(name) ? take(name) : "false";
        require(value == "true" || value == "false");
        if (value == "true") result_[name] = value;
        return value == "true";
    }

    void read_sequences(uint64_t max, bool spread = false) {
        const uint64_t first = number("sequence_min", max);
        const uint64_t last = number("sequence_max", max);
        require(last >= first + (spread ? 31 : 3));
    }

    void read_sequence(bool has_last_timestamp) {
        const auto sequence = optional_number("sequence", UINT32_MAX);
        require(sequence.has_value() == has_last_timestamp);
        if (!sequence || !is_valid_) return;
        require(*sequence >= std::stoull(result_["sequence_min"]) &&
                *sequence <= std::stoull(result_["sequence_max"]));
    }

    void read_snowflake() {
        const ParsedLayout parsed = parse_layout(text("layout"));
        require(parsed.fault == LayoutFault::none);
        if (!is_valid_) return;
        const Layout& layout = parsed.layout;
        result_["layout"] = without_empty_sequence(layout.text());
        const auto greatest = [&](const char* name) {
            return (uint64_t{1} << layout.width(name)) - 1;
        };
        const auto datacenter = optional_number("datacenter", greatest("datacenter"));
        const auto worker = optional_number("worker", greatest("worker"));
        require(datacenter.has_value() == worker.has_value());
        const bool spread = flag("spread");
        read_sequences(greatest("sequence"), spread);
        const Wide end = layout.epoch + Wide{layout.unit} * layout.unit_count();
        const auto last = time("last_timestamp", layout.epoch, end - 1);
        if (last) result_["last_timestamp"] = std::to_string(*last);
        read_sequence(last.has_value());
    }

    void read_sno() {
        optional_number("partition", UINT16_MAX);
        read_sequences(UINT16_MAX);
        const uint64_t last = units("last_timestamp");
        read_sequence(last > 0);
        number("tick", 1);
        const uint64_t safe = units("safe_mark");
        require(units("highest_wall_clock") == std::max(last, safe));
        number("regressions", INT64_MAX);
        number("at_count", INT64_MAX);
        if (last > 0) result_["last_timestamp"] = std::to_string(last);
        if (safe > 0) result_["safe_mark"] = std::to_string(safe);
    }

    std::map<std::string, std::string> values_;
    Snapshot result_;
    bool is_valid_ = true;
};

}  // namespace snowdrift::model
