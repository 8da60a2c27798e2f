#include "pg/generators/clock_error.hpp"

#include "pg/support/clock.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/settings.hpp"

namespace snowdrift {
namespace {

int hint_for_lead() {
    return errhint(
        "Correct the clock, wait until it has caught up, or increase snowdrift.max_clock_lead.");
}

}  // namespace

void report_clock_error(Verdict verdict, int64_t behind_ms) {
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
