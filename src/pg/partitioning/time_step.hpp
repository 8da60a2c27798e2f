// Steps of time in UTC, one per partition: whole months, or whole minutes, hours and days.
#pragma once

#include "pg/support/postgres.hpp"

namespace snowdrift {

/// Months are counted from January of the year 0, so that three months are a quarter; microseconds
/// from a Monday, so that seven days are a week.
class TimeStep {
 public:
    /// Raises 22023 unless the interval is a positive whole number of months or of minutes.
    explicit TimeStep(const Interval& step);

    /// The beginning of the step that contains a time.
    TimestampTz begin_of(TimestampTz time) const;

    /// The beginning of the step after the one that begins at `begin`; DT_NOEND if PostgreSQL has
    /// no such time.
    TimestampTz next(TimestampTz begin) const;

    /// The suffix of the name of the partition whose step begins at `begin`.
    const char* suffix(TimestampTz begin) const;

 private:
    int64 us_ = 0;
    int64 months_ = 0;
};

}  // namespace snowdrift
