#include "pg/support/clock.hpp"

#include "pg/support/postgres.hpp"

#include <algorithm>

extern "C" {
#include "pgstat.h"
#include "storage/latch.h"
#include "storage/s_lock.h"
#include "utils/wait_event.h"
}

namespace snowdrift::clock {
namespace {

/// A sleep ends about this much late (the kernel's timer slack), so it is begun shorter by this,
/// and less than this is not slept but spun.
constexpr int64_t slack_ns = 60'000;

/// How soon a clock that is set while somebody waits for it is noticed.
constexpr int64_t longest_nap_ms = 100;

uint32 wait_event() {
#if PG_VERSION_NUM >= 170000
    static uint32 event = 0;
    if (event == 0) event = WaitEventExtensionNew("SnowdriftTick");
    return event;
#else
    return PG_WAIT_EXTENSION;
#endif
}

}  // namespace

void rest_until(int64_t unix_ms) {
    CHECK_FOR_INTERRUPTS();
    const int64_t left_ns = unix_ms * ns_per_ms - now_ns();
    if (left_ns >= 2 * ns_per_ms) {
        (void)WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
                        std::min(left_ns / ns_per_ms - 1, longest_nap_ms), wait_event());
        ResetLatch(MyLatch);
    } else if (left_ns > slack_ns) {
        // Finer than a latch's milliseconds, and short enough that a signal which arrives just
        // before the sleep is served within two of them.
        const timespec nap{0, left_ns - slack_ns};
        pgstat_report_wait_start(wait_event());
        (void)nanosleep(&nap, nullptr);
        pgstat_report_wait_end();
    } else if (left_ns > 0) {
        SPIN_DELAY();
    }
    CHECK_FOR_INTERRUPTS();
}

}  // namespace snowdrift::clock
