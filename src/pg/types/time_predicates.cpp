// Time predicates: the SQL functions that compare IDs with times (before, until, after, since,
// within), and the functions that return the first and the last ID of a predicate's times.
// planner/ replaces the predicates by comparisons with these IDs.
#include <algorithm>

#include "pg/support/checks.hpp"
#include "pg/support/datum.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/time.hpp"
#include "pg/types/id_traits.hpp"
#include "pg/types/snowflake_layout_type.hpp"

extern "C" {
#include "utils/rangetypes.h"
#include "utils/typcache.h"
}

using namespace snowdrift;

namespace {

/// The times from `first` to `last`, both inclusive; empty if `last` is before `first`.
struct Times {
    TimestampTz first;
    TimestampTz last;

    constexpr bool contains(TimestampTz time) const { return first <= time && time <= last; }
};

constexpr Times no_times{DT_NOEND, DT_NOBEGIN};

// Each predicate returns the times that satisfy it; its own time is argument `n`. IDs have finite
// times, so infinity needs two special cases: no time is after infinity or before -infinity.

Times since(FunctionCallInfo fcinfo, int n) { return {PG_GETARG_TIMESTAMPTZ(n), DT_NOEND}; }

Times after(FunctionCallInfo fcinfo, int n) {
    const TimestampTz time = PG_GETARG_TIMESTAMPTZ(n);
    return time == DT_NOEND ? no_times : Times{time + 1, DT_NOEND};
}

Times before(FunctionCallInfo fcinfo, int n) {
    const TimestampTz time = PG_GETARG_TIMESTAMPTZ(n);
    return time == DT_NOBEGIN ? no_times : Times{DT_NOBEGIN, time - 1};
}

Times until(FunctionCallInfo fcinfo, int n) { return {DT_NOBEGIN, PG_GETARG_TIMESTAMPTZ(n)}; }

Times within(FunctionCallInfo fcinfo, int n) {
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

/// The IDs from `first` to `last`, both inclusive; empty if `last` is less than `first`.
template <typename Id>
struct IdRange {
    Id first;
    Id last;
};

/// The IDs of a format whose timestamps are in `times`. `format` provides boundary() and
/// last_before(); `all` is the range of its IDs, `valid` the range of its timestamps.
template <typename Id, typename Format>
IdRange<Id> ids_of(const Format& format, const IdRange<Id>& all, const TimeRange& valid,
                   const Times& times) {
    const int64 first_ms = std::max(timestamp_ceil_ms(times.first), valid.first_ms);
    const int64 last_ms = std::min(timestamp_floor_ms(times.last), valid.last_ms);
    if (first_ms > last_ms) return {all.last, all.first};
    return {format.boundary(time_of(first_ms)), format.last_before(time_of(last_ms + 1))};
}

/// The SQL functions of one predicate for one ID type.
template <typename Id, Times (*predicate)(FunctionCallInfo, int)>
struct TimePredicate {
    static Datum of_id_and_time(FunctionCallInfo fcinfo) {
        PG_RETURN_BOOL(is_true(get_argument<Id>(fcinfo, 0), predicate(fcinfo, 1)));
    }

    static Datum of_time_and_id(FunctionCallInfo fcinfo) {
        PG_RETURN_BOOL(is_true(get_argument<Id>(fcinfo, 1), predicate(fcinfo, 0)));
    }

    static Datum first(FunctionCallInfo fcinfo) { return make_datum(ids(fcinfo).first); }

    static Datum last(FunctionCallInfo fcinfo) { return make_datum(ids(fcinfo).last); }

 private:
    static bool is_true(const Id& id, const Times& times) {
        return times.contains(timestamp_from_unix_ms(id.timestamp_ms()));
    }

    static IdRange<Id> ids(FunctionCallInfo fcinfo) {
        return ids_of<Id>(Id{}, {Id{}, Id::max()}, IdTraits<Id>::times, predicate(fcinfo, 0));
    }
};

/// The IDs of `layout` whose timestamps are in the tstzrange of argument `n`.
IdRange<int64> ids_within(FunctionCallInfo fcinfo, int n, const SnowflakeLayout& layout) {
    return ids_of<int64>(layout, {0, layout.max_id()}, times_of(layout), within(fcinfo, n));
}

}  // namespace

/// Defines the functions of a predicate. `of_id` takes the ID first, `of_time` the time.
#define TIME_PREDICATE(Id, predicate, of_id, of_time, first_id, last_id) \
    TIME_PREDICATE_OF_ID(Id, predicate, of_id, first_id, last_id)        \
    SNOWDRIFT_FUNCTION_AS(of_time, TimePredicate<Id, predicate>::of_time_and_id)

#define TIME_PREDICATE_OF_ID(Id, predicate, of_id, first_id, last_id)          \
    SNOWDRIFT_FUNCTION_AS(of_id, TimePredicate<Id, predicate>::of_id_and_time) \
    SNOWDRIFT_FUNCTION_AS(first_id, TimePredicate<Id, predicate>::first)       \
    SNOWDRIFT_FUNCTION_AS(last_id, TimePredicate<Id, predicate>::last)

TIME_PREDICATE(Ulid, before, ulid_before, before_of_ulid, first_ulid_before, last_ulid_before)
TIME_PREDICATE(Ulid, until, ulid_until, until_of_ulid, first_ulid_until, last_ulid_until)
TIME_PREDICATE(Ulid, after, ulid_after, after_of_ulid, first_ulid_after, last_ulid_after)
TIME_PREDICATE(Ulid, since, ulid_since, since_of_ulid, first_ulid_since, last_ulid_since)
TIME_PREDICATE_OF_ID(Ulid, within, ulid_within, first_ulid_within, last_ulid_within)
TIME_PREDICATE(Sno, before, sno_before, before_of_sno, first_sno_before, last_sno_before)
TIME_PREDICATE(Sno, until, sno_until, until_of_sno, first_sno_until, last_sno_until)
TIME_PREDICATE(Sno, after, sno_after, after_of_sno, first_sno_after, last_sno_after)
TIME_PREDICATE(Sno, since, sno_since, since_of_sno, first_sno_since, last_sno_since)
TIME_PREDICATE_OF_ID(Sno, within, sno_within, first_sno_within, last_sno_within)

/// snowflake_within(bigint, tstzrange [, snowflake_layout]) → boolean; false for an invalid ID
SNOWDRIFT_FUNCTION(snowflake_within) {
    const int64 id = PG_GETARG_INT64(0);
    const auto [first, last] = ids_within(fcinfo, 1, get_layout_argument(fcinfo, 2));
    PG_RETURN_BOOL(first <= id && id <= last);
}

/// first_snowflake_within(tstzrange [, snowflake_layout]) → bigint
SNOWDRIFT_FUNCTION(first_snowflake_within) {
    PG_RETURN_INT64(ids_within(fcinfo, 0, get_layout_argument(fcinfo, 1)).first);
}

/// last_snowflake_within(tstzrange [, snowflake_layout]) → bigint
SNOWDRIFT_FUNCTION(last_snowflake_within) {
    PG_RETURN_INT64(ids_within(fcinfo, 0, get_layout_argument(fcinfo, 1)).last);
}

/// uuidv7_within(uuid, tstzrange) → boolean; false for another version or variant
SNOWDRIFT_FUNCTION(uuidv7_within) {
    const auto& bytes = get_argument<Uuidv7::Bytes>(fcinfo, 0);
    if (!Uuidv7::is_version_7(bytes)) PG_RETURN_BOOL(false);
    const TimestampTz time = timestamp_from_unix_ms(Uuidv7{bytes}.timestamp_ms());
    PG_RETURN_BOOL(within(fcinfo, 1).contains(time));
}

/// uuidv7_within_pruned(uuid, tstzrange) → boolean; the same, with another support function
SNOWDRIFT_FUNCTION_AS(uuidv7_within_pruned, snowdrift_uuidv7_within)

SNOWDRIFT_FUNCTION_AS(first_uuidv7_within, TimePredicate<Uuidv7, within>::first)
SNOWDRIFT_FUNCTION_AS(last_uuidv7_within, TimePredicate<Uuidv7, within>::last)
