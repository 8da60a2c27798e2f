// The IDs in a column of type bigint (Snowflake IDs), ulid, sno or uuid (UUIDs of version 7), for
// code that handles all of them.
#pragma once

#include <compare>
#include <optional>

#include "pg/support/checks.hpp"
#include "pg/support/postgres.hpp"
#include "snowdrift/snowflake.hpp"

namespace snowdrift {

class ColumnIds {
 public:
    enum class Kind { snowflake, ulid, sno, uuidv7 };

    /// The IDs in a column of type bigint, ulid, sno or uuid, or of a domain over one of them;
    /// nothing for other types. `layout`: the layout of Snowflake IDs.
    static std::optional<ColumnIds> of(Oid type, const SnowflakeLayout& layout);

    Kind kind() const { return kind_; }

    /// The layout of Snowflake IDs.
    const SnowflakeLayout& layout() const { return layout_; }

    /// The column's type, not a domain.
    Oid type() const { return type_; }

    /// The range of timestamps of the IDs.
    TimeRange times() const;

    /// The time before which IDs cannot be told from keys of another origin, in Unix milliseconds.
    /// For Snowflake IDs, the time of the number 2^32, rounded up to a time unit, but at most a day
    /// after the epoch. For other IDs, the first time.
    int64 certain_since_ms() const;

    /// The smallest ID whose timestamp is not before `unix_ms`. Precondition: `unix_ms` is in
    /// times().
    Datum boundary(int64 unix_ms) const;

    /// A value of any of the types, in a form that sorts as the values do.
    struct SortKey {
        uint64 high;
        uint64 low;

        friend auto operator<=>(const SortKey&, const SortKey&) = default;
    };
    SortKey sort_key(Datum value) const;

    /// The inverse of sort_key().
    Datum value(const SortKey& key) const;

    /// The timestamp of an ID; nothing if the value is not a valid ID.
    std::optional<TimestampTz> time_of(Datum id) const;

    /// The text form of an ID, or of a number that is not an ID.
    const char* text(Datum id) const;

 private:
    ColumnIds(Kind kind, Oid type, const SnowflakeLayout& layout)
        : kind_{kind}, type_{type}, layout_{layout} {}

    Kind kind_;
    Oid type_;
    SnowflakeLayout layout_;
};

}  // namespace snowdrift
