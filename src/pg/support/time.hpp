// Between PostgreSQL's timestamps (microseconds since 2000, infinities), Unix milliseconds, and the
// latter's text.
#pragma once

#include "pg/support/postgres.hpp"
#include "snowdrift/utc.hpp"

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

/// The Unix millisecond in UTC, as ISO 8601 has it: whatever the session's DateStyle and TimeZone,
/// which immutable functions must not depend on.
inline const char* utc_text(int64 unix_ms) {
    auto* const text = static_cast<char*>(palloc(max_utc_text_size + 1));
    *format_utc(unix_ms, text) = '\0';
    return text;
}

}  // namespace snowdrift
