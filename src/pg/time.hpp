// Between PostgreSQL's timestamps (microseconds since 2000, infinities) and Unix milliseconds.
#pragma once

#include "pg/postgres.hpp"

namespace snowdrift {

inline constexpr int64 postgres_epoch_unix_ms =
    (int64{POSTGRES_EPOCH_JDATE} - UNIX_EPOCH_JDATE) * SECS_PER_DAY * 1000;

/// The Unix millisecond that `timestamp` falls in. Precondition: it is finite.
inline int64 unix_ms_floor(TimestampTz timestamp) {
    const int64 ms = timestamp / 1000 - (timestamp % 1000 < 0);
    return ms + postgres_epoch_unix_ms;
}

/// The first Unix millisecond that begins at or after `timestamp`. Precondition: it is finite.
inline int64 unix_ms_ceil(TimestampTz timestamp) {
    return unix_ms_floor(timestamp) + (timestamp % 1000 != 0);
}

/// The timestamp at which the Unix millisecond begins.
/// Precondition: unix_ms is within what IDs hold (up to the year 18919, by a Snowflake layout).
inline TimestampTz timestamp_from_unix_ms(int64 unix_ms) {
    return (unix_ms - postgres_epoch_unix_ms) * 1000;
}

}  // namespace snowdrift
