// The promise that no ID comes twice: the mark, a time on disk that no ID ever returned is later
// than. docs/guarantees.md has the proof; here is what it rests on.
#pragma once

#include <atomic>
#include <cstdint>

namespace snowdrift::mark {

/// How far the mark is raised past the clock when an ID needs it. Raised ahead of need from half of
/// it on.
inline constexpr int64_t lease_ms = 500;

/// How far it is raised past an ID at least, however far that is ahead of the clock.
inline constexpr int64_t lease_ahead_ms = 100;

/// A mark as shared memory has it: the Unix millisecond that is on disk, and a tag that changes
/// whenever the place on disk does (the extension was dropped and created again).
struct Word {
    static constexpr int tag_bits = 16;

    uint64_t bits;

    constexpr Word(int64_t unix_ms, uint16_t tag) noexcept
        : bits{static_cast<uint64_t>(unix_ms) << tag_bits | tag} {}
    constexpr explicit Word(uint64_t stored) noexcept : bits{stored} {}

    constexpr int64_t unix_ms() const noexcept { return static_cast<int64_t>(bits >> tag_bits); }
    constexpr uint16_t tag() const noexcept { return static_cast<uint16_t>(bits); }

    /// The word that speaks of another place than this one, whose mark is `unix_ms`.
    constexpr Word adopted(int64_t unix_ms) const noexcept {
        return {unix_ms, static_cast<uint16_t>(tag() + 1)};
    }
};

/// What this session knows of its database's mark.
struct Session {
    const std::atomic<uint64_t>* word = nullptr;  ///< in shared memory; null before attach()
    int tag = -1;  ///< of the place on disk this session sees; -1 when it must look again
};
extern Session session;

/// Where generators stand when a session comes to them.
struct Start {
    int64_t floor;  ///< every generator: its IDs must be later than this, if they aren't already
    int64_t fresh;  ///< one that has no state yet: its IDs must be later than this
};

/// Makes the mark known to this session. Raises 25006 during recovery, 55000 when the mark on disk
/// is missing or was tampered with.
Start attach();

/// Makes all states that are fresh from now on begin after the IDs of all that there were: called
/// when a state is given up, or when a generator takes another one's place.
void give_up_states();

/// The mark on disk, as this session sees it; also during recovery.
int64_t read();

/// Raises the mark on disk past `unix_ms` by a lease where it isn't that far, and returns when
/// it is safe there; false if the session must attach() again, and its generators start anew.
bool raise(int64_t unix_ms);

/// Sets a mark that leads `unix_ms` by more than `max_lead_ms`, or that is damaged, back to
/// `unix_ms`; false if it does neither. Gives up the promise for IDs of later times.
bool reset(int64_t unix_ms, int64_t max_lead_ms);

/// Whether the mark is still that of the tag: it was neither reset nor replaced since.
inline bool is_current(int tag) {
    return Word{session.word->load(std::memory_order_relaxed)}.tag() == tag;
}

/// Whether the mark on disk is known to be past `unix_ms`, and by so much that it need not be
/// raised yet.
inline bool is_covered(int64_t unix_ms) {
    const Word known{session.word->load(std::memory_order_acquire)};
    return known.tag() == session.tag && known.unix_ms() >= unix_ms + lease_ms / 2;
}

/// Whether an ID of the time `unix_ms` may be returned: the mark on disk is not before it. If
/// not, the ID must be forgotten, and the session must attach() before it draws another.
inline bool cover(int64_t unix_ms) {
    if (is_covered(unix_ms)) [[likely]]
        return true;
    return raise(unix_ms);
}

}  // namespace snowdrift::mark
