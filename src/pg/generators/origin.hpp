// The origin of a Snowflake generator: the time from which it issues IDs. snowflake_at() issues IDs
// of earlier times.
#pragma once

#include <optional>

#include "pg/generators/definitions.hpp"
#include "pg/memory/slots.hpp"

namespace snowdrift {

/// Returns the origin of the generator that `definition` describes, or of the default Snowflake
/// generator, in Unix milliseconds. Nothing if it is unknown. Raises 55000 if the mark's table is
/// missing or unusable.
std::optional<int64_t> read_origin(const std::optional<Definition>& definition);

/// Ensures that further IDs of the generator's state in `slot` are not before its origin. Each
/// session calls it before it draws from the generator. Raises the same errors.
void advance_to_origin(slots::Slot& slot, const slots::SlotKey& key,
                       const std::optional<Definition>& definition);

}  // namespace snowdrift
