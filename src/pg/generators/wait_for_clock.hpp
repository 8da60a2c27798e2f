// Waiting for the server's clock: for the next millisecond when a sequence is used up, and for a
// clock that is behind.
#pragma once

#include <cstdint>

namespace snowdrift {

/// Waits until about the Unix millisecond `unix_ms`, and may return earlier. The caller reads the
/// clock again and decides, so setting the clock during the wait does no harm. Serves interrupts
/// (canceling the query ends the wait) and shows a wait event.
void wait_for_clock(int64_t unix_ms);

}  // namespace snowdrift
