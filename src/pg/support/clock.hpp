// The server's wall clock. All code reads the clock through these functions.
// draw/clock_behind.hpp waits for it.
#pragma once

#include <time.h>

#include <cstdint>

namespace snowdrift::clock {

inline constexpr int64_t ns_per_ms = 1'000'000;
inline constexpr int64_t ns_per_s = 1'000'000'000;

/// The wall clock's time, in nanoseconds since 1970-01-01T00:00:00Z.
inline int64_t now_ns() {
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * ns_per_s + now.tv_nsec;
}

/// The wall clock's time, in milliseconds since 1970-01-01T00:00:00Z.
inline int64_t now_ms() { return now_ns() / ns_per_ms; }

}  // namespace snowdrift::clock
