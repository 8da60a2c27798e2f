#include "pg/generators/overflow.hpp"

#include <algorithm>

namespace snowdrift::overflow {

int64_t ticks(const slots::Statistics& statistics, int64_t now_ms) {
    const bool waiting = statistics.waiting.load() > 0;
    const bool recent = now_ms - statistics.last_ms.load() <= calm_ms;
    return waiting || recent ? std::max<int64_t>(now_ms - statistics.began_ms.load(), 1) : 0;
}

bool begin_wait(slots::Statistics& statistics) {
    const int64_t now = clock::now_ms();
    const bool alone = statistics.waiting.fetch_add(1) == 0;
    const int64_t last = statistics.last_ms.exchange(now);
    // A clock that was set back begins an episode too: the ticks of one are not negative.
    if (!alone || (now >= last && now - last <= calm_ms)) return false;
    statistics.began_ms = now;
    statistics.episodes.fetch_add(1);
    return true;
}

void log_episode(const Name& name) {
    ereport(LOG,
            (errmsg("ID generator \"%s\" is over its capacity", name.name),
             name.capacity > 0
                 ? errdetail("It has %u IDs every %d ms; calls wait for the next.", name.capacity,
                             name.tick_ms)
                 : errdetail(
                       "The random bits of its millisecond are used up; calls wait for the next."),
             errhidestmt(true), errhidecontext(true)));
}

void end_wait(int, Datum argument) {
    auto& statistics = *reinterpret_cast<slots::Statistics*>(DatumGetPointer(argument));
    statistics.last_ms = clock::now_ms();
    statistics.waiting.fetch_sub(1);
}

}  // namespace snowdrift::overflow
