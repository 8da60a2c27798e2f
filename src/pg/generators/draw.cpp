#include "pg/generators/draw.hpp"

#include "pg/support/settings.hpp"

namespace snowdrift {

void refuse(Verdict verdict, int64_t ms) {
    if (verdict == Verdict::refused)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("clock moved backwards by %lld ms; refusing to generate IDs",
                               static_cast<long long>(ms)),
                        errdetail("The last ID is that far ahead of the server's clock; "
                                  "snowdrift.max_clock_lead allows %d ms.",
                                  settings::max_clock_lead),
                        errhint("Correct the clock, wait until it has caught up, or raise "
                                "snowdrift.max_clock_lead.")));
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("the server's clock is outside the times that the IDs can hold"),
                    errhint("Correct the server's clock.")));
}

}  // namespace snowdrift
