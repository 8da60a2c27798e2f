// The IDs that clients receive, as numbers of 128 bits in the order of their format, and the calls
// that draw them.
#pragma once

#include <array>
#include <charconv>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "snowdrift/sno.hpp"
#include "snowdrift/ulid.hpp"
#include "snowdrift/uuidv7.hpp"

namespace snowdrift::chaos {

enum class Format : uint8_t { snowflake, sno, ulid, uuidv7 };
inline constexpr std::array format_names{"Snowflake", "sno", "ULID", "UUIDv7"};
inline constexpr size_t format_count = format_names.size();

/// An ID of any format. IDs of one format compare like their SQL values.
struct Id {
    uint64_t high = 0;
    uint64_t low = 0;

    friend auto operator<=>(const Id&, const Id&) = default;
};

/// The ID of a text that a server has sent; nothing if it is not an ID of the format.
inline std::optional<Id> parse_id(Format format, std::string_view text) {
    switch (format) {
        case Format::snowflake: {
            int64_t value = 0;
            const char* const end = text.data() + text.size();
            const auto [stop, error] = std::from_chars(text.data(), end, value);
            if (error != std::errc{} || stop != end || value <= 0) return std::nullopt;
            return Id{0, static_cast<uint64_t>(value)};
        }
        case Format::sno: {
            Sno sno;
            if (Sno::parse(text, sno)) return std::nullopt;
            return Id{sno.high(), sno.sequence()};
        }
        case Format::ulid: {
            Ulid ulid;
            if (Ulid::parse(text, ulid)) return std::nullopt;
            return Id{ulid.high(), ulid.low()};
        }
        case Format::uuidv7: {
            Id id;
            size_t digits = 0;
            for (const char c : text) {
                if (c == '-') continue;
                const int digit = c >= '0' && c <= '9'   ? c - '0'
                                  : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                                         : -1;
                if (digit < 0 || digits == 32) return std::nullopt;
                uint64_t& half = digits++ < 16 ? id.high : id.low;
                half = half << 4 | static_cast<uint64_t>(digit);
            }
            const bool is_version_7 = (id.high >> 12 & 15) == 7 && id.low >> 62 == 2;
            if (digits != 32 || !is_version_7) return std::nullopt;
            return id;
        }
    }
    return std::nullopt;
}

/// What docs/guarantees.md promises about the order in which a generator's IDs are drawn.
enum class Order : uint8_t {
    ascending,        ///< each ID is greater than all IDs drawn before
    per_timeline,     ///< the same for the sno values with the same tick
    per_transaction,  ///< the same for transactions, in the order of their first calls; the IDs of
                      ///< a transaction ascend and have one time
};

/// A call that draws an ID.
struct Source {
    const char* call;
    Format format;
    Order order;
};

inline constexpr std::array<Source, 7> sources{{
    {"next_snowflake()", Format::snowflake, Order::ascending},
    {"next_snowflake('own')", Format::snowflake, Order::ascending},
    {"next_snowflake('narrow')", Format::snowflake, Order::ascending},
    {"next_sno()", Format::sno, Order::per_timeline},
    {"next_sno('own sno')", Format::sno, Order::per_timeline},
    {"next_ulid()", Format::ulid, Order::per_transaction},
    {"next_uuidv7()", Format::uuidv7, Order::per_transaction},
}};

/// The tick of a sno.
constexpr unsigned tick_of(const Id& sno) { return static_cast<unsigned>(sno.high >> 24 & 1); }

/// The time in a ULID or a UUID, in milliseconds.
constexpr uint64_t time_of(const Id& id) { return id.high >> 16; }

}  // namespace snowdrift::chaos
