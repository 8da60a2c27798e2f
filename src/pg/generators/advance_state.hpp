// Advancing a generator's state, of any kind.
#pragma once

#include <cstdint>

#include "pg/memory/slots.hpp"

namespace snowdrift {

/// Makes all further IDs of the state in `slot`, which belongs to the generator of `key`, later
/// than the Unix millisecond `unix_ms`. Raises no error.
void advance_state(slots::Slot& slot, const slots::SlotKey& key, int64_t unix_ms);

}  // namespace snowdrift
