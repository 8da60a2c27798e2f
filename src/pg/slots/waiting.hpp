// Counts the calls that are waiting, in a counter in shared memory.
#pragma once

#include <atomic>
#include <cstdint>

#include "pg/support/postgres.hpp"

extern "C" {
#include "storage/ipc.h"
}

namespace snowdrift::waiting {

using Counter = std::atomic<uint32_t>;

/// A clean-up function of PG_ENSURE_ERROR_CLEANUP: a call no longer waits. `counter` points to the
/// Counter.
inline void end_wait(int, Datum counter) {
    reinterpret_cast<Counter*>(DatumGetPointer(counter))->fetch_sub(1);
}

/// Calls `wait()`, and counts the call until that returns, raises an error or ends the session.
template <typename Wait>
void count_while(Counter& counter, Wait wait) {
    counter.fetch_add(1);
    PG_ENSURE_ERROR_CLEANUP(end_wait, PointerGetDatum(&counter));
    wait();
    PG_END_ENSURE_ERROR_CLEANUP(end_wait, PointerGetDatum(&counter));
    end_wait(0, PointerGetDatum(&counter));
}

}  // namespace snowdrift::waiting
