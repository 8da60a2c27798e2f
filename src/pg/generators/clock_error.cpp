#include "pg/generators/clock_error.hpp"

#include "pg/support/postgres.hpp"
#include "pg/support/settings.hpp"

namespace snowdrift {

void report_clock_error(Verdict verdict, int64_t behind_ms) {
    if (verdict == Verdict::refused)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("clock moved backwards by %lld ms; refusing to generate IDs",
                               static_cast<long long>(behind_ms)),
                        errdetail("The last ID is ahead of the server's clock by that much; "
                                  "snowdrift.max_clock_lead allows %d ms.",
                                  settings::max_clock_lead),
                        errhint("Correct the clock, wait until it has caught up, or increase "
                                "snowdrift.max_clock_lead.")));
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("the server's clock is out of range for the ID format"),
                    errhint("Correct the server's clock.")));
}

}  // namespace snowdrift
