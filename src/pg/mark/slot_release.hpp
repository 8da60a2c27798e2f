// What happens to slots at the end of transactions that create, drop or replace generators.
#pragma once

#include "pg/mark/slots.hpp"

namespace snowdrift {

// "Rolled back" refers to the current subtransaction, one that contains it, or the transaction.
// A slot that no longer has the given allocation when it would be released or advanced remains
// unchanged.

/// What the transaction has done to the definition of a generator.
enum class OwnChange : uint8_t { none, created, updated };

/// The transaction has created the generator. Releases the slot if that is rolled back.
void release_on_abort(slots::Slot& slot, uint64_t allocation);

/// The transaction has dropped the generator. Releases the slot if the transaction commits, and
/// advances its state past the floor of fresh states if that is rolled back, because IDs of a
/// generator that has replaced it may have been returned.
void release_on_commit(slots::Slot& slot, uint64_t allocation);

/// The transaction changes the definition of the generator by hand, so the generator may replace
/// another one, or be replaced. advance_changed() and a rollback advance its state past the floor.
void advance_on_change(slots::Slot& slot, uint64_t allocation);

/// Advances the states of the generators whose definitions the transaction has changed by hand past
/// the floor of fresh states. Called at the end of each statement that changes definitions.
void advance_changed();

}  // namespace snowdrift
