// The SQL functions that generate UUIDs of version 7: next_uuidv7() takes them from a block per
// transaction, and uuidv7_at() generates random ones.
#include "pg/draw/next_in_block.hpp"
#include "pg/support/datum.hpp"
#include "pg/types/id_traits.hpp"

extern "C" {
#include "access/xlog.h"
}

using namespace snowdrift;

/// next_uuidv7() → uuid
SNOWDRIFT_FUNCTION(next_uuidv7) {
    return make_datum(next_in_block<Uuidv7, slots::Kind::uuidv7, &slots::Slot::uuidv7>());
}

/// uuidv7_watermark() → uuid
SNOWDRIFT_FUNCTION(uuidv7_watermark) {
    if (RecoveryInProgress()) return watermark::read_published(fcinfo, slots::Kind::uuidv7, "");
    return make_datum(watermark_of_blocks<Uuidv7, slots::Kind::uuidv7, &slots::Slot::uuidv7>());
}

/// uuidv7_at(timestamptz) → uuid
SNOWDRIFT_FUNCTION(uuidv7_at) {
    const int64 unix_ms = get_time<Uuidv7>(fcinfo, 0);
    auto randomness = random_batch.take<Uuidv7::Randomness>();
    randomness[0] &= 0x3;  // 74 of the 80 bits
    return make_datum(Uuidv7::compose(time_of(unix_ms), randomness));
}
