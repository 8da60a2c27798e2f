// The lease: how far the mark is ahead of the clock and of IDs. docs/guarantees.md describes the
// mark.
#pragma once

#include <algorithm>
#include <cstdint>

namespace snowdrift {

/// The lease, in milliseconds: how far beyond the clock the mark is advanced. Inserts that follow
/// each other within half of this time, or regularly within this time, do not wait for the mark.
/// After a restart, IDs are ahead of the clock by up to this time. With 2 s, an INSERT every 1.5 s
/// would have half a second of room for jitter; with 4 s, IDs would be ahead by one more second,
/// for no pause that is common.
inline constexpr int64_t lease_ms = 3000;

/// The minimum distance, in milliseconds, from an ID to the mark that is advanced for it. It
/// applies if the ID is ahead of the clock: after a restart, IDs start after the mark, so a shorter
/// distance limits how much each restart increases the lead. Half of it is longer than the default
/// delay of PostgreSQL's WAL writer.
inline constexpr int64_t min_lease_ms = 500;

/// The mark, in Unix milliseconds, that a session writes for an ID of `unix_ms` when the wall clock
/// is at `now_ms`.
constexpr int64_t leased_mark(int64_t unix_ms, int64_t now_ms) noexcept {
    return std::max(unix_ms + min_lease_ms, now_ms + lease_ms);
}

/// Whether the mark `mark_ms` is past an ID of `unix_ms`, whose time the clock has reached, by half
/// of the lease, so that it need not be advanced.
constexpr bool has_half_lease(int64_t mark_ms, int64_t unix_ms) noexcept {
    return mark_ms >= unix_ms + lease_ms / 2;
}

/// Whether less than half remains of the distance from an ID of `unix_ms` to the mark that
/// leased_mark() gives, so that the mark `mark_ms` is advanced ahead of need.
constexpr bool is_low(int64_t mark_ms, int64_t unix_ms, int64_t now_ms) noexcept {
    return 2 * (mark_ms - unix_ms) < leased_mark(unix_ms, now_ms) - unix_ms;
}

}  // namespace snowdrift
