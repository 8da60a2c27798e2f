#include "pg/draw/draw.hpp"

namespace snowdrift {

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

}  // namespace snowdrift
