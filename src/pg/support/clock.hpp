// The one place that reads the server's wall clock, and waits for it.
#pragma once

#include <time.h>

#include <cstdint>

namespace snowdrift::clock {

inline constexpr int64_t ns_per_ms = 1'000'000;
inline constexpr int64_t ns_per_s = 1'000'000'000;

/// The wall clock, in nanoseconds since the Unix epoch.
inline int64_t now_ns() {
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * ns_per_s + now.tv_nsec;
}

/// The wall clock, in milliseconds since the Unix epoch.
inline int64_t now_ms() {
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * 1000 + now.tv_nsec / ns_per_ms;
}

/// Rests until about `unix_ms` begins, and returns soon after, or earlier: the caller reads the
/// clock again and decides, so a clock that is set meanwhile does no harm. Serves interrupts (a
/// cancelled query ends here) and shows a wait event.
void rest_until(int64_t unix_ms);

}  // namespace snowdrift::clock
