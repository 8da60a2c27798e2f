#include "pg/draw/overflow.hpp"

#include <algorithm>
#include <cstdlib>

#include "pg/support/clock.hpp"

namespace snowdrift::overflow {
namespace {

void log_episode(const Label& label) {
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

}  // namespace

int64_t duration_ms(const slots::Statistics& statistics, int64_t now_ms) {
    // A time before the last wait means that the clock was set back since.
    if (std::abs(now_ms - statistics.last_ms.load()) > max_gap_ms) return 0;
    return std::max<int64_t>(now_ms - statistics.began_ms.load(), 1);
}

void record(slots::Statistics& statistics, const Label& label) {
    Assert(statistics.waiting > 0);
    const int64_t now = clock::now_ms();
    if (statistics.last_ms.load() == now) return;
    const int64_t last = statistics.last_ms.exchange(now);
    // Other sessions may have read the clock earlier and recorded it later, or vice versa.
    if (std::abs(now - last) <= max_gap_ms) return;
    statistics.began_ms = now;
    statistics.episodes.fetch_add(1);
    log_episode(label);
}

}  // namespace snowdrift::overflow
