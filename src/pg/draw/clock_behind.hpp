// What happens when the server's clock is behind the last ID, or a sequence is used up: calls wait
// for the clock, or raise an error such as "clock moved backwards".
#pragma once

#include <cstdint>

#include "pg/slots/slot.hpp"
#include "protocol/generators.hpp"

namespace snowdrift {

/// Waits until the Unix millisecond `unix_ms`, but may return earlier: the caller must read the
/// clock again. Reports a wait event, and serves interrupts, so that canceling the query ends the
/// wait.
void wait_for_clock(int64_t unix_ms);

/// Raises 55000 for the verdict `refused` or `out_of_range`. `behind_ms`: for `refused`, by how
/// many milliseconds the clock is behind the last ID.
[[noreturn]] void report_clock_error(Verdict verdict, int64_t behind_ms);

/// The description of a generator in the log.
struct Label {
    const char* name;
    uint32_t capacity;  ///< IDs per time unit; 0 if it depends on random bits
    int time_unit_ms;
};

/// Records that a call, which the slot counts as waiting, waits because a time unit's sequence is
/// used up. Logs the beginning of an episode of overflow, which may raise an error, because logging
/// serves interrupts.
void record_overflow(slots::Slot& slot, const Label& label);

/// Ensures that `subject`, of the time `unix_ms`, is ahead of the clock by at most `max_lead_ms`.
/// Raises 55000.
void check_lead(const char* subject, int64_t unix_ms, int64_t max_lead_ms);

}  // namespace snowdrift
