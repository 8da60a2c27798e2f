// Holding the watermark of a Snowflake generator for a row whose ID may come from elsewhere.
// administration/hold_row.cpp has the trigger.
#pragma once

#include <cstdint>
#include <optional>

#include "pg/support/postgres.hpp"

namespace snowdrift {

/// Returns a time if the row must be refused: watermarks up to this time may have been read, and it
/// is after the ID's. `generator`: the name of the generator whose layout the ID has; null for the
/// default one. Raises the errors of a draw.
std::optional<TimestampTz> hold_snowflake(const char* generator, int64_t id);

}  // namespace snowdrift
