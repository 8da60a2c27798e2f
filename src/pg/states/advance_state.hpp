// The states of generators, of any kind: advancing one, and the time of its last ID.
// slot_release.hpp has what happens to them when a transaction creates or drops a generator.
//
// The rule, sentences 2 and 3 of the proof in docs/guarantees.md: a state moves only forward, and
// before one is given up, the floor of fresh states is raised to the last IDs of all states. A
// generator that gets the slot or the name of another one therefore starts after its IDs.
//
// What can go wrong: a transaction that has dropped a generator is rolled back, and another
// generator has drawn in its place meanwhile. Then the state is advanced past the floor, too.
#pragma once

#include <cstdint>

#include "pg/slots/slots.hpp"

namespace snowdrift {

/// Makes all further IDs of the state in `slot`, which belongs to the generator of `key`, later
/// than the Unix millisecond `unix_ms`. Raises no error.
void advance_state(slots::Slot& slot, const slots::SlotKey& key, int64_t unix_ms);

/// The time of the last ID of that state, in Unix milliseconds; 0 if there is none.
int64_t last_unix_ms(slots::Slot& slot, const slots::SlotKey& key);

/// The latest time at which a generator of this database issues no more IDs, in Unix milliseconds:
/// that of its last ID, or before a watermark that was read. Considers the states that this process
/// has mapped, which include those of this transaction. Raises no error.
int64_t latest_unix_ms();

/// Makes all further fresh states start after all IDs that the generators of this database have
/// issued since the server started. Called before a state is released, and when a generator is
/// created or dropped. Considers the same states as latest_unix_ms(). Raises no error, and reads no
/// catalogs, so it can be called at the end of a transaction. Returns the floor of fresh states, a
/// Unix millisecond; 0 if this process has not attached the mark.
int64_t advance_fresh_floor();

}  // namespace snowdrift
