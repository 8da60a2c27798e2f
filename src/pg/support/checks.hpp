// Range checks of arguments. Each check returns the value, or raises an error that contains the
// value and its bounds.
#pragma once

#include "pg/support/postgres.hpp"
#include "pg/support/time.hpp"

namespace snowdrift {

/// The range of timestamps of a kind of ID, in Unix milliseconds, both bounds inclusive.
struct TimeRange {
    const char* subject;  ///< noun phrase for error messages, such as "a ULID"
    int64 first_ms;
    int64 last_ms;
};

/// Ensures that the value of a field is in 0 .. max, where 0 means that the ID has no such field.
/// Raises 22003.
inline uint32 check_field(const char* field, int32 value, uint32 max) {
    if (max == 0 && value != 0)
        ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                        errmsg("%s must be 0, not %d", field, value),
                        errdetail("The layout has no bits for it.")));
    if (value < 0 || static_cast<uint32>(value) > max)
        ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                        errmsg("%s %d is out of range 0 .. %u", field, value, max)));
    return static_cast<uint32>(value);
}

/// Ensures that a metabyte is in 0 .. 255. Raises 22003.
inline uint8_t check_metabyte(int32 value) {
    return static_cast<uint8_t>(check_field("metabyte", value, UINT8_MAX));
}

/// Ensures that `time` is finite and in the range. `unix_ms`: the time, rounded to the Unix
/// millisecond that the caller needs. Returns `unix_ms`. Raises 22008.
inline int64 check_time(const TimeRange& range, TimestampTz time, int64 unix_ms) {
    Assert(range.first_ms <= range.last_ms);
    if (TIMESTAMP_NOT_FINITE(time) || unix_ms < range.first_ms || unix_ms > range.last_ms) {
        // timestamptz_to_str() returns the same buffer each time.
        const char* const shown = pstrdup(timestamptz_to_str(time));
        const char* const first =
            pstrdup(timestamptz_to_str(timestamp_from_unix_ms(range.first_ms)));
        ereport(ERROR, (errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
                        errmsg("timestamp out of range for %s: %s", range.subject, shown),
                        errdetail("Valid times are from %s to %s.", first,
                                  timestamptz_to_str(timestamp_from_unix_ms(range.last_ms)))));
    }
    return unix_ms;
}

}  // namespace snowdrift
