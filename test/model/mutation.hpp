// The mutations of the protocol: each breaks one part of a sentence of docs/guarantees.md.
#pragma once

#include <cstdint>

namespace snowdrift::model {

enum class Mutation : uint8_t {
    none,
    // 1. Before an ID past the mark leaves the server, the mark is advanced, and is on disk.
    return_without_advance,    // the ID is returned wherever the mark is
    return_before_flush,       // the advance is written, but nothing waits until it is durable
    lease_ignores_id,          // the mark is advanced to a lease after the clock, not after the ID
    cover_ignores_lead,        // the mark covers the clock's time, not that of an ID ahead of it
    ignore_canceled_wait,      // the ID is returned although the wait for a standby was canceled
    skip_commit_of_extension,  // the commit of a new extension need not be durable
    trust_writer,              // ... even if another session has recorded that it is
    // 2. A fresh state starts after every ID of its generator, and of those that it replaces.
    fresh_state_ignores_mark,    // it starts at the clock
    fresh_state_starts_at_mark,  // it starts with the unit of the mark, not after it
    drop_keeps_floor,            // the floor of fresh states does not follow the mark in a drop
    rollback_keeps_floor,        // ... nor in the rollback of a creation
    rollback_keeps_state,        // the rollback of a drop leaves the generator's state as it is
    new_file_starts_at_zero,     // the mark is not carried over to another file
    // 3. While it exists, a generator's state only moves forward.
    draw_in_two_steps,    // the word is loaded and stored, without a compare-and-swap
    attach_sets_state,    // each session that attaches sets the state to the floor
    ignore_safe_mark,     // a sno's other timeline is entered at any time
    forget_timeline,      // the timeline that is left does not become the safe mark
    block_outlives_mark,  // a block of ULIDs is used after a change of the mark's tag
    // 4. No other session relies on an advance that is not durable.
    word_has_deferred_advance,  // the word includes an advance that the commit makes durable
    publish_unconfirmed,        // the advance is published although no standby has confirmed it
    publish_under_another_tag,  // ... although the word has another tag
    trust_page,                 // a session relies on the mark on the page without waiting
    fresh_floor_is_word,        // fresh states start after the word, not after the written mark
    new_file_starts_at_word,    // ... and so does the mark in another file
    // 5. A session that relies on an advance of its own flushes it before data leaves the server.
    asynchronous_commit,  // synchronous_commit = off applies
    commit_without_wal,   // the commit of a transaction that has written no WAL does not flush
    unguarded_message,    // a message leaves before the flush
    unguarded_error,      // ... if it reports the error that aborts the transaction
    unguarded_code,       // code that may send data itself counts as guarded
    // 6. With synchronous standbys, the mark is confirmed before the ID is returned.
    ignore_standby,         // nothing waits for the standby
    defer_despite_standby,  // the commit waits for it
    // ULIDs of a transaction have one time.
    bind_again,  // a session binds the word to the file although another one has done so
    // While the library is replaced
    retire_keeps_tag,        // the tag of the mark stays
    draw_ignores_tag,        // a draw does not compare the tag after it has taken the ID
    advance_ignores_tag,     // ... nor after it has advanced the mark
    attach_ignores_version,  // a session of the older library attaches again
    retire_forgets_mark,     // the mark is not passed on to the new structure
    retire_forgets_advance,  // ... nor is an advance that a commit will make durable
};

}  // namespace snowdrift::model
