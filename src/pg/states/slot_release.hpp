// What happens to slots at the end of transactions that create or drop generators.
#pragma once

#include "pg/slots/slots.hpp"

namespace snowdrift {

// "Rolled back" refers to the current subtransaction, one that contains it, or the transaction.
// A slot that no longer has the given allocation when it would be released or advanced remains
// unchanged.

/// The transaction has created the generator. Releases the slot if that is rolled back.
void release_on_abort(slots::Slot& slot, uint64_t allocation);

/// The transaction has dropped the generator. Releases the slot if the transaction commits, and
/// advances its state past the floor of fresh states if that is rolled back, because IDs of a
/// generator that has replaced it may have been returned.
void release_on_commit(slots::Slot& slot, uint64_t allocation);

/// Advances the state past the floor of fresh states.
void advance_past_floor(slots::Slot& slot, uint64_t allocation);

}  // namespace snowdrift
