// Release of slots at the end of transactions that create or drop generators.
#pragma once

#include "pg/memory/slots.hpp"

namespace snowdrift {

/// Releases the slot if the current subtransaction, all that contain it, and the transaction
/// commit.
void release_on_commit(const slots::Allocated& slot);

/// Releases the slot if the current subtransaction, one that contains it, or the transaction is
/// rolled back.
void release_on_abort(slots::Slot& slot);

}  // namespace snowdrift
