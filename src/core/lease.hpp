// The lease: how far the mark is ahead of the clock and of IDs. docs/guarantees.md describes the
// mark.
#pragma once

#include <algorithm>
#include <cstdint>

namespace snowdrift {

/// The lease, in milliseconds: how far beyond the clock the mark is advanced. Once half of the
/// lease is used, a session advances the mark ahead of need.
inline constexpr int64_t lease_ms = 500;

/// The minimum distance, in milliseconds, from an ID to the mark that is advanced for it. It
/// applies if the ID is ahead of the clock: a fresh state starts after the mark, so a shorter lease
/// limits how much each fresh state increases the lead.
inline constexpr int64_t min_lease_ms = 100;

/// The mark, in Unix milliseconds, that a session writes for an ID of `unix_ms` when the wall clock
/// is at `now_ms`.
constexpr int64_t leased_mark(int64_t unix_ms, int64_t now_ms) noexcept {
    return std::max(unix_ms + min_lease_ms, now_ms + lease_ms);
}

/// Whether the mark `mark_ms` is past an ID of `unix_ms` by at least half of the lease, so that it
/// need not be advanced.
constexpr bool has_half_lease(int64_t mark_ms, int64_t unix_ms) noexcept {
    return mark_ms >= unix_ms + lease_ms / 2;
}

}  // namespace snowdrift
