// Snowflake layouts as Datums, for all that have one in SQL.
#pragma once

#include "pg/support/checks.hpp"
#include "pg/support/datum.hpp"
#include "pg/support/postgres.hpp"
#include "snowdrift/snowflake.hpp"
#include "snowdrift/snowflake_presets.hpp"

namespace snowdrift {

/// The layout where none is named.
inline constexpr SnowflakeLayout default_layout = presets::snowflake;

/// The layout that a Datum of the SQL type snowflake_layout points to. It is sound.
inline const SnowflakeLayout& get_layout(Datum datum) { return get_id<SnowflakeLayout>(datum); }

/// The layout that is a function's argument `n`, or the default one for a call with fewer.
inline const SnowflakeLayout& get_layout_argument(FunctionCallInfo fcinfo, int n) {
    return n < PG_NARGS() ? get_layout(PG_GETARG_DATUM(n)) : default_layout;
}

/// The times that the layout can express.
inline TimeRange times_of(const SnowflakeLayout& layout) {
    return {"a Snowflake ID", layout.epoch_unix_ms, layout.max_unix_ms()};
}

}  // namespace snowdrift
