// The time steps of partitions, in UTC: whole months, or whole minutes, hours or days.
#pragma once

#include "pg/support/postgres.hpp"

namespace snowdrift {

/// Steps of months are counted from January of the year 0, so that three months are a quarter.
/// Other steps are counted from Monday, 2001-01-01, so that seven days are a week.
class TimeStep {
 public:
    /// Raises 22023 unless the interval is a positive whole number of months or of minutes.
    explicit TimeStep(const Interval& step);

    /// The beginning of the step that contains `time`.
    TimestampTz begin_of(TimestampTz time) const;

    /// The beginning of the step after the one that begins at `begin`; DT_NOEND if it is out of
    /// PostgreSQL's range.
    TimestampTz next(TimestampTz begin) const;

    /// The suffix of the partition's name for the step that begins at `begin`: YYYY_MM, YYYY_MM_DD
    /// or YYYY_MM_DD_hhmm.
    const char* suffix(TimestampTz begin) const;

 private:
    int64 us_ = 0;
    int64 months_ = 0;
};

}  // namespace snowdrift
