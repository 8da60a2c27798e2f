// The SQL functions that generate ULIDs: the monotonic next_ulid(), which takes a block per
// transaction, and the random gen_ulid() and ulid_at().
#include "pg/draw/next_in_block.hpp"
#include "pg/support/datum.hpp"
#include "pg/types/id_traits.hpp"

extern "C" {
#include "access/xlog.h"
}

using namespace snowdrift;

namespace {

Ulid random_ulid(int64_t unix_ms) {
    return Ulid::compose(time_of(unix_ms), random_batch.take<Ulid::Randomness>());
}

}  // namespace

/// next_ulid() → ulid, also gen_monotonic_ulid()
SNOWDRIFT_FUNCTION(next_ulid) {
    return make_datum(next_in_block<Ulid, slots::Kind::ulid, &slots::Slot::ulid>());
}

/// ulid_watermark() → ulid
SNOWDRIFT_FUNCTION(ulid_watermark) {
    if (RecoveryInProgress()) return watermark::read_published(fcinfo, slots::Kind::ulid, "");
    return make_datum(watermark_of_blocks<Ulid, slots::Kind::ulid, &slots::Slot::ulid>());
}

/// gen_ulid() → ulid
SNOWDRIFT_FUNCTION(gen_ulid) {
    const int64_t now = clock::now_ms();
    if (!Ulid::contains_time(time_of(now))) report_clock_error(Verdict::out_of_range, 0);
    return make_datum(random_ulid(now));
}

/// ulid_at(timestamptz) → ulid
SNOWDRIFT_FUNCTION(ulid_at) { return make_datum(random_ulid(get_time<Ulid>(fcinfo, 0))); }
