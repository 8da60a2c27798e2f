// The SQL function snowdrift.read_clock(), on which the view snowdrift.clock is based.
#include <algorithm>

#include "pg/mark/mark.hpp"
#include "pg/record/durable_wal.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/row.hpp"
#include "pg/support/time.hpp"

extern "C" {
#include "access/xlog.h"
#include "utils/builtins.h"
}

using namespace snowdrift;

/// snowdrift.read_clock() → wall_clock, mark, lead, waiting, detail. Works while the mark cannot be
/// advanced.
SNOWDRIFT_FUNCTION(read_clock) {
    const auto [mark_ms, waiting] = mark::read();
    const int64 now_ms = clock::now_ms();
    std::optional<Datum> mark, detail;
    if (mark_ms != 0) mark = TimestampTzGetDatum(timestamp_from_unix_ms(mark_ms));
    // A standby does not advance the mark.
    if (!RecoveryInProgress() && wal::find_unwritable_file() != nullptr)
        detail = CStringGetTextDatum(psprintf("could not advance the ID mark: %m"));
    return make_row(fcinfo, {TimestampTzGetDatum(timestamp_from_unix_ms(now_ms)), mark,
                             interval_from_ms(std::max<int64>(mark_ms - now_ms, 0)),
                             Int32GetDatum(static_cast<int32>(waiting)), detail});
}
