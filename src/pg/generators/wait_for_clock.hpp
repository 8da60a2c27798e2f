// Waiting for the server's clock: for the next time unit if a sequence is used up, or until a clock
// that is behind has caught up.
#pragma once

#include <cstdint>

namespace snowdrift {

/// Waits until the Unix millisecond `unix_ms`, but may return earlier: the caller must read the
/// clock again. Reports a wait event, and serves interrupts, so that canceling the query ends the
/// wait.
void wait_for_clock(int64_t unix_ms);

}  // namespace snowdrift
