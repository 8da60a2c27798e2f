// The IDs of a partition key: of type bigint (Snowflake IDs), ulid or sno.
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
    /// The partition key of `parent`. `layout` applies to Snowflake IDs. Raises 42809 if the key is
    /// not a range of IDs.
    PartitionIds(Relation parent, const SnowflakeLayout& layout);

    /// The times that the IDs can carry.
    TimeRange times() const;

    /// The smallest ID of a Unix millisecond. Precondition: it is one of times().
    Datum boundary(int64 unix_ms) const;

    /// The time of an ID; nothing if the value is not a valid ID.
    std::optional<TimestampTz> time_of(Datum id) const;

    bool are_equal(Datum a, Datum b) const;

    /// An ID as an SQL literal.
    const char* literal(Datum id) const;

 private:
    enum class Kind { snowflake, ulid, sno };

    /// Find the kind of IDs of a type. False if it has none.
    bool find_kind(Oid type);

    Kind kind_ = Kind::snowflake;
    SnowflakeLayout layout_;
};

}  // namespace snowdrift
