// The mark: a time on disk, of which the database guarantees: no ID with a later timestamp has ever
// been returned. docs/guarantees.md has the proof. This file is a session's view of it;
// protocol/mark_protocol.hpp has the protocol between sessions. record/record.hpp has the row on
// disk, and says why it is a row that is changed in place.
//
// The rule is sentence 1: before an ID past the mark is returned, the mark is advanced, and the new
// mark is durable. To keep it without a flush for each ID, the mark runs ahead by a lease, and a
// session that finds half of it used writes the next mark and waits for nothing. A word in shared
// memory has a durable mark. If it is past the ID by half of the lease, the draw is done.
//
// What can go wrong: the word could be ahead of the disk, or describe the table of an extension
// that was dropped. So the word is advanced only to a mark whose WAL is flushed, and confirmed by
// the synchronous standbys, if there are any. It contains a tag that changes when the mark is reset
// or bound to another file of the table. A session that holds no lock advances it only while the
// tag is the same.
//
// This folder also stops old libraries. After an upgrade without a restart, sessions of the old and
// of the new library are open at once. If their structures differ, they have different states, and
// the new ones start after the mark on disk. Therefore, the mark is enough for draws: an old
// session finds the new structure in the row when it next advances the mark, and stops. What the
// mark does not cover is only in the states: which watermark was returned, where a snapshot was
// taken, to what time the generators were advanced, which generators were dropped. Functions that
// read or change this call require_structure() afterwards; those for which it is enough that the
// states are current at the beginning call it before.
#pragma once

#include <atomic>
#include <cstdint>

#include "pg/record/record.hpp"
#include "pg/slots/slot.hpp"
#include "protocol/lease.hpp"
#include "protocol/mark_state.hpp"

namespace snowdrift::mark {

/// What this process has attached of its database's mark.
struct Attached {
    const std::atomic<uint64_t>* word = nullptr;  ///< in shared memory; null before attach()
    int tag = -1;  ///< of the word this process has attached; -1 if none
};
extern Attached attached;

/// Makes the mark known to this session. Returns the floor of all states: their further IDs must be
/// later than this Unix millisecond. Raises 25006 during recovery, 55000 if the table is missing or
/// unusable, or if a newer library has replaced this session's.
int64_t attach();

/// The slot of the mark. Precondition: attach() has returned.
slots::Slot& slot();

/// What is known of the mark, whether or not this session has attached it.
struct Reading {
    int64_t unix_ms;   ///< the mark that attach() would find: the one on disk, or a later one that
                       ///< is known from a previous file
    uint32_t waiting;  ///< calls that are waiting until the mark is durable
};

/// Reads the mark. Neither writes, nor waits for the disk or for standbys. Raises 55000 if the
/// table is missing or unusable.
Reading read();

/// Returns the floor of fresh states, a Unix millisecond. Read it while the lock of slots is held,
/// so that a state which advance_fresh_floor() does not find in a slot starts after the floor.
/// Precondition: attach() has returned.
int64_t fresh_floor();

/// Makes all further fresh states start after the Unix millisecond `unix_ms`. Raises no error.
/// Returns the floor of fresh states, a Unix millisecond; 0 if this process has not attached the
/// mark.
int64_t advance_fresh_floor(int64_t unix_ms);

/// Raises 55000 if a newer library has replaced this session's, so that states of this structure
/// are no longer in use. If a dump was restored since the session attached the mark, the session
/// must attach it again.
void require_structure();

/// Ensures that the mark, and the latest watermark on disk, are not before `unix_ms`, the time of a
/// watermark that is about to be returned, and waits until they are durable. Writes at most once
/// per lease. Raises the errors of require_structure(), and those of a full disk.
void cover_watermark(int64_t unix_ms);

/// Ensures that the mark on disk is not before `unix_ms`: advances it by a lease if necessary, and
/// waits until it is durable. Returns false if the session must attach() again before it draws
/// another ID.
bool cover(int64_t unix_ms);

/// Makes all sessions forget the mark, so that they discard the IDs that they draw, and clears the
/// states of this database's generators. They attach the mark again after the caller has set it
/// back on disk. Precondition: the caller has locked the table against other sessions.
void discard();

/// Whether `tag` is the current tag: the mark was neither reset nor moved to another file since.
inline bool is_current(int tag) {
    return MarkWord{attached.word->load(std::memory_order_relaxed)}.tag() == tag;
}

/// Whether the mark is past `unix_ms` by at least half of the lease, so that it need not be
/// advanced.
inline bool is_covered(int64_t unix_ms) {
    const MarkWord known{attached.word->load(std::memory_order_acquire)};
    return known.tag() == attached.tag && has_half_lease(known.unix_ms(), unix_ms);
}

}  // namespace snowdrift::mark
