// The mutations of the protocol: each breaks one part of a sentence of docs/guarantees.md.
#pragma once

#include <cstdint>

namespace snowdrift::model {

enum class Mutation : uint8_t {
    none,
    // 1. Before an ID past the mark is returned, the mark is advanced, and is durable.
    return_without_advance,     // the ID is returned wherever the mark is
    return_before_flush,        // the advance is written, but nothing waits until it is durable
    trust_page,                 // a session relies on what another one has written, without waiting
    publish_unflushed,          // an advance ahead of need is published before it is durable
    mark_before_position,       // it is recorded before its position
    lease_ignores_id,           // the mark is advanced to a lease after the clock, not after the ID
    cover_ignores_lead,         // the mark covers the clock's time, not that of an ID ahead of it
    ignore_standby,             // nothing waits for the standby
    ignore_canceled_wait,       // the ID is returned although the wait for a standby was canceled
    skip_commit_of_extension,   // the commit of a new extension need not be durable
    trust_writer,               // ... even if another session has recorded that it is
    unlocked_page,              // sessions change the page at the same time
    publish_under_another_tag,  // the advance is published although the word has another tag
    // 2. A fresh state starts after every ID of its generator, and of those that it replaces.
    fresh_state_ignores_mark,    // it starts at the clock
    fresh_state_starts_at_mark,  // it starts with the unit of the mark, not after it
    drop_keeps_floor,            // the floor of fresh states does not follow the states in a drop
    rollback_keeps_floor,        // ... nor in the rollback of a creation
    rollback_keeps_state,        // the rollback of a drop leaves the generator's state as it is
    new_file_starts_at_zero,     // the mark is not carried over to another file
    reset_without_attach,        // the mark is not attached after a reset
    reset_keeps_file,            // after a reset that failed, the mark is not attached again
    // 3. While it exists, a generator's state only moves forward.
    draw_in_two_steps,    // the word is loaded and stored, without a compare-and-swap
    attach_sets_state,    // each session that attaches sets the state to the floor
    ignore_safe_mark,     // a sno's other timeline is entered at any time
    forget_timeline,      // the timeline that is left does not become the safe mark
    block_outlives_mark,  // a block of ULIDs is used after a change of the mark's tag
    unlocked_attach,      // the mark's table is not locked while a state is advanced past the mark
    draw_ignores_tag,     // a draw does not compare the tag after it has taken the ID
    advance_ignores_tag,  // ... nor after it has advanced the mark
    // While the library is replaced
    ignore_structure,  // sessions of the older library advance the mark
};

}  // namespace snowdrift::model
