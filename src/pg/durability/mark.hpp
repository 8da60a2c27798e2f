// The mark: the time on disk after which no ID was ever issued, shared by all sessions of a
// database. It guarantees that IDs are never repeated; docs/guarantees.md has the proof. This file
// has the protocol between sessions, mark_sequence.hpp the value on disk.
#pragma once

#include <atomic>
#include <cstdint>

namespace snowdrift::mark {

/// How far the mark is advanced beyond the clock when an ID needs it. From half of it on, sessions
/// advance it ahead of need.
inline constexpr int64_t lease_ms = 500;

/// How far the mark is advanced beyond an ID at least, however far the ID is ahead of the clock.
inline constexpr int64_t min_lease_ms = 100;

/// The mark in shared memory: the Unix millisecond on disk, and a tag that changes whenever the
/// file on disk does (the extension was dropped and created again) and whenever the mark is reset.
struct Word {
    static constexpr int tag_bits = 16;

    uint64_t bits;

    constexpr Word(int64_t unix_ms, uint16_t tag) noexcept
        : bits{static_cast<uint64_t>(unix_ms) << tag_bits | tag} {}
    constexpr explicit Word(uint64_t stored) noexcept : bits{stored} {}

    constexpr int64_t unix_ms() const noexcept { return static_cast<int64_t>(bits >> tag_bits); }
    constexpr uint16_t tag() const noexcept { return static_cast<uint16_t>(bits); }

    /// The word of the next file, whose mark is `unix_ms`.
    constexpr Word next(int64_t unix_ms) const noexcept {
        return {unix_ms, static_cast<uint16_t>(tag() + 1)};
    }
};

/// This session's view of its database's mark.
struct Session {
    const std::atomic<uint64_t>* word = nullptr;  ///< in shared memory; null before attach()
    int tag = -1;  ///< of the word that describes the file this session sees; -1 if unknown
};
extern Session session;

/// The Unix milliseconds after which a generator's further IDs must be.
struct Floors {
    int64_t any_state_ms;    ///< for every state
    int64_t fresh_state_ms;  ///< for a fresh state
};

/// Makes the mark known to this session. Raises 25006 during recovery, 55000 if the mark on disk is
/// missing or invalid.
Floors attach();

/// Makes all further fresh states start after the present mark. Called when a state is released,
/// and when a generator is created or dropped.
void advance_fresh_floor();

/// The mark on disk, in Unix milliseconds, as this session sees it; also during recovery. Raises
/// 55000 if it is missing or invalid.
int64_t read();

/// Advances the mark on disk to `unix_ms` plus a lease, unless it is that far, and returns when it
/// is durable. False if the session must attach() again before it draws from any generator.
bool advance(int64_t unix_ms);

/// Sets an invalid mark, or one that is ahead of `unix_ms` by more than `max_lead_ms`, to
/// `unix_ms`. False if the mark is neither. IDs of later times may be repeated from then on.
bool reset(int64_t unix_ms, int64_t max_lead_ms);

/// Whether the tag is still that of the mark: the mark was neither reset nor moved to another file.
inline bool is_current(int tag) {
    return Word{session.word->load(std::memory_order_relaxed)}.tag() == tag;
}

/// Whether the mark is known to be past `unix_ms`, by so much that it need not be advanced yet.
inline bool is_covered(int64_t unix_ms) {
    const Word known{session.word->load(std::memory_order_acquire)};
    return known.tag() == session.tag && known.unix_ms() >= unix_ms + lease_ms / 2;
}

/// Ensures that the mark on disk is not before `unix_ms`, so that an ID of that time may be issued.
/// False if the ID must be discarded; the session must attach() before it draws another.
inline bool cover(int64_t unix_ms) {
    if (is_covered(unix_ms)) [[likely]]
        return true;
    return advance(unix_ms);
}

}  // namespace snowdrift::mark
