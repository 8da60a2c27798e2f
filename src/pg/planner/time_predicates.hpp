// Comparing IDs with times, and the ranges of IDs that such comparisons stand for: since, after,
// before, until and within. What the planner makes of them is in time_support.cpp.
#pragma once

#include <algorithm>

#include "pg/support/checks.hpp"
#include "pg/support/datum.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/time.hpp"
#include "pg/types/id_traits.hpp"

extern "C" {
#include "utils/rangetypes.h"
}

namespace snowdrift {

/// The times from `first` to `last`, both inclusive; none if `last` is before `first`.
struct Times {
    TimestampTz first;
    TimestampTz last;

    constexpr bool contains(TimestampTz time) const { return first <= time && time <= last; }
};

inline constexpr Times no_times{DT_NOEND, DT_NOBEGIN};

// The times that a predicate's argument `n` means. An ID's time is finite, so that infinities need
// no care but that nothing is after the one and before the other.

struct Since {
    static Times times(FunctionCallInfo fcinfo, int n) {
        return {PG_GETARG_TIMESTAMPTZ(n), DT_NOEND};
    }
};

struct After {
    static Times times(FunctionCallInfo fcinfo, int n) {
        const TimestampTz time = PG_GETARG_TIMESTAMPTZ(n);
        return time == DT_NOEND ? no_times : Times{time + 1, DT_NOEND};
    }
};

struct Before {
    static Times times(FunctionCallInfo fcinfo, int n) {
        const TimestampTz time = PG_GETARG_TIMESTAMPTZ(n);
        return time == DT_NOBEGIN ? no_times : Times{DT_NOBEGIN, time - 1};
    }
};

struct Until {
    static Times times(FunctionCallInfo fcinfo, int n) {
        return {DT_NOBEGIN, PG_GETARG_TIMESTAMPTZ(n)};
    }
};

struct Within {
    static Times times(FunctionCallInfo fcinfo, int n) {
        const RangeType* const range = PG_GETARG_RANGE_P(n);
        RangeBound lower;
        RangeBound upper;
        bool empty;
        range_deserialize(range_get_typcache(fcinfo, RangeTypeGetOid(range)), range, &lower, &upper,
                          &empty);
        Times times{DT_NOBEGIN, DT_NOEND};
        if (!lower.infinite) times.first = DatumGetTimestampTz(lower.val);
        if (!upper.infinite) times.last = DatumGetTimestampTz(upper.val);
        if (empty || (!lower.inclusive && times.first == DT_NOEND) ||
            (!upper.inclusive && times.last == DT_NOBEGIN))
            return no_times;
        if (!lower.infinite && !lower.inclusive) ++times.first;
        if (!upper.infinite && !upper.inclusive) --times.last;
        return times;
    }
};

/// The IDs from `first` to `last`, both inclusive; none if `last` is less than `first`.
template <typename Id>
struct IdRange {
    Id first;
    Id last;
};

/// The IDs whose times are among `times`, of a format that has `all` IDs and carries the times
/// `carried`. `format` has boundary() and last_before().
template <typename Id, typename Format>
IdRange<Id> ids_of(const Format& format, const IdRange<Id>& all, const TimeRange& carried,
                   const Times& times) {
    const int64 first_ms = std::max(unix_ms_ceil(times.first), carried.first_ms);
    const int64 last_ms = std::min(unix_ms_floor(times.last), carried.last_ms);
    if (first_ms > last_ms) return {all.last, all.first};
    return {format.boundary(first_ms), format.last_before(last_ms + 1)};
}

/// The SQL functions of one predicate of an ID type. SNOWDRIFT_TIME_PREDICATES gives them their
/// entry points.
template <typename Id, typename Predicate>
struct TimePredicate {
    static Datum of_id_and_time(FunctionCallInfo fcinfo) {
        PG_RETURN_BOOL(holds(get_argument<Id>(fcinfo, 0), Predicate::times(fcinfo, 1)));
    }

    static Datum of_time_and_id(FunctionCallInfo fcinfo) {
        PG_RETURN_BOOL(holds(get_argument<Id>(fcinfo, 1), Predicate::times(fcinfo, 0)));
    }

    static Datum first(FunctionCallInfo fcinfo) { return make_datum(ids(fcinfo).first); }

    static Datum last(FunctionCallInfo fcinfo) { return make_datum(ids(fcinfo).last); }

 private:
    static bool holds(const Id& id, const Times& times) {
        return times.contains(timestamp_from_unix_ms(id.timestamp_ms()));
    }

    static IdRange<Id> ids(FunctionCallInfo fcinfo) {
        return ids_of<Id>(Id{}, {Id::nil(), Id::max()}, IdTraits<Id>::times,
                          Predicate::times(fcinfo, 0));
    }
};

}  // namespace snowdrift

#define SNOWDRIFT_TIME_PREDICATE(type, Id, name, Predicate)          \
    SNOWDRIFT_FUNCTION(type##_##name) {                              \
        return TimePredicate<Id, Predicate>::of_id_and_time(fcinfo); \
    }                                                                \
    SNOWDRIFT_FUNCTION(first_##type##_##name) {                      \
        return TimePredicate<Id, Predicate>::first(fcinfo);          \
    }                                                                \
    SNOWDRIFT_FUNCTION(last_##type##_##name) { return TimePredicate<Id, Predicate>::last(fcinfo); }

/// The same, also for operators that have the time on the left.
#define SNOWDRIFT_TIME_COMPARISON(type, Id, name, Predicate)         \
    SNOWDRIFT_TIME_PREDICATE(type, Id, name, Predicate)              \
    SNOWDRIFT_FUNCTION(name##_of_##type) {                           \
        return TimePredicate<Id, Predicate>::of_time_and_id(fcinfo); \
    }

/// Defines the SQL-callable functions type_since, first_type_since, last_type_since and so on, in
/// the install script's order.
#define SNOWDRIFT_TIME_PREDICATES(type, Id)             \
    SNOWDRIFT_TIME_COMPARISON(type, Id, before, Before) \
    SNOWDRIFT_TIME_COMPARISON(type, Id, until, Until)   \
    SNOWDRIFT_TIME_COMPARISON(type, Id, after, After)   \
    SNOWDRIFT_TIME_COMPARISON(type, Id, since, Since)   \
    SNOWDRIFT_TIME_PREDICATE(type, Id, within, Within)
