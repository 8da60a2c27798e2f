// Snowflake layouts as Datums, and the layout arguments of SQL functions.
#pragma once

#include "pg/support/checks.hpp"
#include "pg/support/datum.hpp"
#include "pg/support/postgres.hpp"
#include "snowdrift/snowflake.hpp"
#include "snowdrift/snowflake_layout.hpp"
#include "snowdrift/snowflake_presets.hpp"

namespace snowdrift {

/// The layout of functions and generators that are not given one.
inline constexpr SnowflakeLayout default_layout = presets::snowflake;

/// The layout that a Datum of the SQL type snowflake_layout points to. It is valid.
inline const SnowflakeLayout& get_layout(Datum datum) {
    const auto& layout = get_id<SnowflakeLayout>(datum);
    Assert(is_valid(layout));
    return layout;
}

/// The text form of a layout, in the current memory context.
char* layout_text(const SnowflakeLayout& layout);

/// The layout in argument `n`, counted from 0; the default layout if the call has fewer arguments.
inline const SnowflakeLayout& get_layout_argument(FunctionCallInfo fcinfo, int n) {
    return n < PG_NARGS() ? get_layout(PG_GETARG_DATUM(n)) : default_layout;
}

/// The range of timestamps of the layout's IDs.
inline TimeRange times_of(const SnowflakeLayout& layout) {
    return {"a Snowflake ID", layout.epoch_unix_ms, layout.max_unix_ms()};
}

/// Raises `sqlstate`: no ID of the layout has a time of the present, because the layout has ended
/// or has not begun. `now_ms`: the server's clock, in Unix milliseconds.
[[noreturn]] void report_not_present(const SnowflakeLayout& layout, int64 now_ms, int sqlstate);

/// Ensure that a number is a Snowflake ID of the layout. Raises 22003.
inline int64 check_snowflake(const SnowflakeLayout& layout, int64 id) {
    if (!layout.contains_id(id))
        ereport(ERROR,
                (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                 errmsg("Snowflake ID %lld is out of range 0 .. %lld", static_cast<long long>(id),
                        static_cast<long long>(layout.max_id()))));
    return id;
}

}  // namespace snowdrift
