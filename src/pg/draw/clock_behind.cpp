#include "pg/draw/clock_behind.hpp"

#include <algorithm>

#include "pg/support/clock.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/settings.hpp"

extern "C" {
#include "pgstat.h"
#include "storage/latch.h"
#include "storage/s_lock.h"
#include "utils/wait_event.h"
}

namespace snowdrift {
namespace {

using clock::ns_per_ms;

/// Sleeps end late by about this time, the kernel's timer slack. Sleeps are shortened by it; waits
/// that are shorter than it spin.
constexpr int64_t slack_ns = 60'000;

/// The longest sleep. After it, the caller reads the clock, which may have been set.
constexpr int64_t max_sleep_ms = 100;

uint32 wait_event() {
    static uint32 event = 0;
    if (event == 0) event = WaitEventExtensionNew("SnowdriftClock");
    return event;
}

int hint_for_lead() {
    return errhint(
        "Correct the clock, wait until it has caught up, or increase snowdrift.max_clock_lead.");
}

}  // namespace

void wait_for_clock(int64_t unix_ms) {
    Assert(INTERRUPTS_CAN_BE_PROCESSED());
    CHECK_FOR_INTERRUPTS();
    const int64_t left_ns = unix_ms * ns_per_ms - clock::now_ns();
    if (left_ns >= 2 * ns_per_ms) {
        (void)WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
                        std::min(left_ns / ns_per_ms - 1, max_sleep_ms), wait_event());
        ResetLatch(MyLatch);
    } else if (left_ns > slack_ns) {
        // WaitLatch() counts in milliseconds, so sleep instead. The sleep delays a signal that
        // arrives just before it by at most two milliseconds.
        const timespec duration{0, left_ns - slack_ns};
        pgstat_report_wait_start(wait_event());
        (void)nanosleep(&duration, nullptr);
        pgstat_report_wait_end();
    } else if (left_ns > 0) {
        SPIN_DELAY();
    }
    CHECK_FOR_INTERRUPTS();
}

void report_clock_error(Verdict verdict, int64_t behind_ms) {
    Assert(verdict == Verdict::refused || verdict == Verdict::out_of_range);
    if (verdict == Verdict::refused)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("clock moved backwards by %lld ms; refusing to generate IDs",
                               static_cast<long long>(behind_ms)),
                        errdetail("The last ID is ahead of the server's clock by that much; "
                                  "snowdrift.max_clock_lead allows %d ms.",
                                  settings::max_clock_lead),
                        hint_for_lead()));
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("the server's clock is out of range for the ID format"),
                    errhint("Correct the server's clock.")));
}

void record_overflow(slots::Slot& slot, const Label& label) {
    Assert(slot.waiting > 0);
    if (!overflow::record(slot.overflow, clock::now_ms())) return;
    ereport(
        LOG,
        (errmsg("ID generator \"%s\" is over its capacity", label.name),
         label.capacity > 0
             ? errdetail("The generator issues at most %u IDs per %d ms. Calls wait for the next "
                         "time unit.",
                         label.capacity, label.time_unit_ms)
             : errdetail("The random bits of the last ID's millisecond are used up. Calls wait "
                         "for the next millisecond."),
         errhidestmt(true), errhidecontext(true)));
}

void check_lead(const char* subject, int64_t unix_ms, int64_t max_lead_ms) {
    const int64_t lead_ms = unix_ms - clock::now_ms();
    if (lead_ms <= max_lead_ms) return;
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("%s is %lld ms ahead of the server's clock", subject,
                           static_cast<long long>(lead_ms)),
                    errdetail("snowdrift.max_clock_lead allows %d ms.", settings::max_clock_lead),
                    hint_for_lead()));
}

}  // namespace snowdrift
