#include "pg/generators/overflow.hpp"

#include <algorithm>

namespace snowdrift::overflow {

int64_t duration_ms(const slots::Statistics& statistics, int64_t now_ms) {
    const bool is_waiting = statistics.waiting.load() > 0;
    const bool is_recent = now_ms - statistics.last_ms.load() <= max_gap_ms;
    return is_waiting || is_recent ? std::max<int64_t>(now_ms - statistics.began_ms.load(), 1) : 0;
}

bool begin_wait(slots::Statistics& statistics) {
    const int64_t now = clock::now_ms();
    const bool is_alone = statistics.waiting.fetch_add(1) == 0;
    const int64_t last = statistics.last_ms.exchange(now);
    // A clock that was set back begins a new episode, so that durations are not negative.
    if (!is_alone || (now >= last && now - last <= max_gap_ms)) return false;
    statistics.began_ms = now;
    statistics.episodes.fetch_add(1);
    return true;
}

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

void end_wait(int, Datum argument) {
    auto& statistics = *reinterpret_cast<slots::Statistics*>(DatumGetPointer(argument));
    statistics.last_ms = clock::now_ms();
    statistics.waiting.fetch_sub(1);
}

}  // namespace snowdrift::overflow
