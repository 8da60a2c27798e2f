// Conversion between PostgreSQL's timestamps (microseconds since 2000-01-01, or infinite), Unix
// milliseconds and their text; intervals.
#pragma once

#include "pg/support/postgres.hpp"
#include "snowdrift/utc.hpp"

extern "C" {
#include "utils/fmgrprotos.h"
}

namespace snowdrift {

inline constexpr int64 postgres_epoch_unix_ms =
    (int64{POSTGRES_EPOCH_JDATE} - UNIX_EPOCH_JDATE) * SECS_PER_DAY * 1000;

/// The Unix millisecond that contains `timestamp`. For an infinite timestamp, a value before or
/// after the times of all IDs.
inline int64 timestamp_floor_ms(TimestampTz timestamp) {
    const int64 ms = timestamp / 1000 - (timestamp % 1000 < 0);
    return ms + postgres_epoch_unix_ms;
}

/// The first Unix millisecond that begins at or after `timestamp`. For an infinite timestamp, a
/// value before or after the times of all IDs.
inline int64 timestamp_ceil_ms(TimestampTz timestamp) {
    return timestamp_floor_ms(timestamp) + (timestamp % 1000 != 0);
}

/// The timestamp at which the Unix millisecond begins. Precondition: `unix_ms` is the time of an ID
/// of some format, at most in the year 18919.
inline TimestampTz timestamp_from_unix_ms(int64 unix_ms) {
    const TimestampTz timestamp = (unix_ms - postgres_epoch_unix_ms) * 1000;
    Assert(IS_VALID_TIMESTAMP(timestamp));
    return timestamp;
}

/// The Datum of an interval of `ms` milliseconds, in the form of a difference of timestamps: 24
/// hours are a day.
inline Datum interval_from_ms(int64 ms) {
    return DirectFunctionCall2(timestamp_mi, TimestampGetDatum(ms * 1000), TimestampGetDatum(0));
}

/// The Unix millisecond as ISO 8601 text in UTC, as format_utc() writes it. Does not depend on
/// DateStyle and TimeZone, so immutable functions may use it.
inline const char* utc_text(int64 unix_ms) {
    auto* const text = static_cast<char*>(palloc(max_utc_text_size + 1));
    *format_utc(unix_ms, text) = '\0';
    return text;
}

}  // namespace snowdrift
