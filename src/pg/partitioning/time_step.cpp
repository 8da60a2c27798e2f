#include "pg/partitioning/time_step.hpp"

extern "C" {
#include "utils/builtins.h"
}

namespace snowdrift {
namespace {

pg_tm fields_of(TimestampTz time) {
    pg_tm fields{};
    fsec_t fraction;
    if (timestamp2tm(time, nullptr, &fields, &fraction, nullptr, nullptr) != 0)
        elog(ERROR, "timestamp out of range");
    return fields;
}

TimestampTz time_of_month(int64 month) {
    if (month / 12 > JULIAN_MAXYEAR) return DT_NOEND;
    pg_tm fields{};
    fields.tm_year = static_cast<int>(month / 12);
    fields.tm_mon = static_cast<int>(month % 12) + 1;
    fields.tm_mday = 1;
    TimestampTz time;
    return tm2timestamp(&fields, 0, nullptr, &time) == 0 ? time : DT_NOEND;
}

}  // namespace

TimeStep::TimeStep(const Interval& step) {
    int64 days_us;
    const bool is_in_range = !__builtin_mul_overflow(int64{step.day}, USECS_PER_DAY, &days_us) &&
                             !__builtin_add_overflow(days_us, step.time, &us_);
    months_ = step.month;
    const bool is_months = months_ > 0 && us_ == 0;
    const bool is_minutes = months_ == 0 && us_ > 0 && us_ % USECS_PER_MINUTE == 0;
    if (is_in_range && (is_months || is_minutes)) return;
    const Datum shown = DirectFunctionCall1(interval_out, IntervalPGetDatum(&step));
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("invalid partition step: \"%s\"", DatumGetCString(shown)),
                    errhint("The step must be a positive whole number of months, or of minutes, "
                            "hours or days.")));
}

TimestampTz TimeStep::begin_of(TimestampTz time) const {
    if (months_ > 0) {
        const pg_tm fields = fields_of(time);
        const int64 month = int64{12} * fields.tm_year + fields.tm_mon - 1;
        return time_of_month(month - month % months_);
    }
    constexpr TimestampTz monday = 366 * USECS_PER_DAY;  // 2001-01-01
    const int64 remainder = (time - monday) % us_;
    return time - remainder - (remainder < 0 ? us_ : 0);
}

TimestampTz TimeStep::next(TimestampTz begin) const {
    Assert(begin == begin_of(begin));
    if (months_ > 0) {
        const pg_tm fields = fields_of(begin);
        return time_of_month(int64{12} * fields.tm_year + fields.tm_mon - 1 + months_);
    }
    TimestampTz end;
    if (__builtin_add_overflow(begin, us_, &end) || !IS_VALID_TIMESTAMP(end)) return DT_NOEND;
    return end;
}

const char* TimeStep::suffix(TimestampTz begin) const {
    const pg_tm fields = fields_of(begin);
    const char* const month = psprintf("%04d_%02d", fields.tm_year, fields.tm_mon);
    if (months_ > 0) return month;
    const char* const day = psprintf("%s_%02d", month, fields.tm_mday);
    if (us_ % USECS_PER_DAY == 0) return day;
    return psprintf("%s_%02d%02d", day, fields.tm_hour, fields.tm_min);
}

}  // namespace snowdrift
