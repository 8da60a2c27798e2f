// Ensuring that arguments fit a format. Each check returns the value, or raises an error that names
// it and its bounds.
#pragma once

#include "pg/support/postgres.hpp"
#include "pg/support/time.hpp"

namespace snowdrift {

/// The times that an ID can carry, in Unix milliseconds, both inclusive.
struct TimeRange {
    const char* of;  ///< whose they are: "a ULID"
    int64 first_ms;
    int64 last_ms;
};

/// Ensure that a field's value is within 0 .. max.
inline uint32 check_field(const char* field, int32 value, uint32 max) {
    if (value < 0 || static_cast<uint32>(value) > max)
        ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                        errmsg("%s %d is out of range 0 .. %u", field, value, max)));
    return static_cast<uint32>(value);
}

/// Ensure that a number can be the metabyte of a sno.
inline uint8_t check_metabyte(int32 value) {
    return static_cast<uint8_t>(check_field("metabyte", value, UINT8_MAX));
}

/// Ensure that an ID can carry a time, given as the Unix millisecond it is rounded to.
inline int64 check_time(const TimeRange& range, TimestampTz time, int64 unix_ms) {
    if (TIMESTAMP_NOT_FINITE(time) || unix_ms < range.first_ms || unix_ms > range.last_ms) {
        // timestamptz_to_str() has one buffer.
        const char* const shown = pstrdup(timestamptz_to_str(time));
        const char* const first =
            pstrdup(timestamptz_to_str(timestamp_from_unix_ms(range.first_ms)));
        ereport(ERROR, (errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
                        errmsg("timestamp out of range for %s: %s", range.of, shown),
                        errdetail("Valid times are from %s to %s.", first,
                                  timestamptz_to_str(timestamp_from_unix_ms(range.last_ms)))));
    }
    return unix_ms;
}

}  // namespace snowdrift
