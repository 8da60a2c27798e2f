// Releasing a slot when the transaction that created or dropped its generator ends.
#pragma once

#include "pg/memory/slots.hpp"

namespace snowdrift {

/// Releases the slot if the transaction commits, including the present subtransaction and all that
/// contain it.
void release_on_commit(const slots::Allocated& slot);

/// Releases the slot if the transaction is rolled back, or the present subtransaction or one that
/// contains it.
void release_on_abort(slots::Slot& slot);

}  // namespace snowdrift
