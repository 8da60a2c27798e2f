// The IDs in a partition key of type bigint (Snowflake IDs), ulid, sno or uuid (UUIDs of version
// 7).
#pragma once

#include <optional>

#include "pg/support/checks.hpp"
#include "pg/support/postgres.hpp"
#include "snowdrift/snowflake.hpp"

extern "C" {
#include "utils/relcache.h"
}

namespace snowdrift {

class PartitionIds {
 public:
    /// The IDs in the partition key of `parent`. `layout`: the layout of Snowflake IDs. Raises
    /// 42809 if `parent` is not partitioned by a range of IDs.
    PartitionIds(Relation parent, const SnowflakeLayout& layout);

    /// The range of timestamps of the IDs.
    TimeRange times() const;

    /// The smallest ID whose timestamp is not before `unix_ms`. Precondition: `unix_ms` is in
    /// times().
    Datum boundary(int64 unix_ms) const;

    /// The timestamp of an ID; nothing if the value is not a valid ID.
    std::optional<TimestampTz> time_of(Datum id) const;

    bool are_equal(Datum a, Datum b) const;

    /// An ID as a quoted SQL literal. Precondition: it is a valid ID.
    const char* literal(Datum id) const;

 private:
    enum class Kind { snowflake, ulid, sno, uuidv7 };

    /// Set the kind of IDs of a type. Return false if it is not a type of IDs.
    bool find_kind(Oid type);

    Kind kind_ = Kind::snowflake;
    SnowflakeLayout layout_;
};

}  // namespace snowdrift
