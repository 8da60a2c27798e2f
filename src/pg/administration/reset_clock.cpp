// The SQL function snowdrift.reset_clock(): after the clock has jumped into the future, sets the
// mark back and discards the states. After that, IDs of times later than the clock's may be
// repeated.
#include <algorithm>

#include "pg/mark/mark.hpp"
#include "pg/named/definition_table.hpp"
#include "pg/named/definitions.hpp"
#include "pg/named/origin.hpp"
#include "pg/record/record.hpp"
#include "pg/states/advance_state.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/settings.hpp"
#include "pg/support/time.hpp"
#include "protocol/lease.hpp"

extern "C" {
#include "tcop/utility.h"
}

using namespace snowdrift;

namespace {

using definitions::Column;
using definitions::Row;

/// The greatest id of all generators, or a greater one, whether or not their creation has been
/// committed. (Replication can set the sequence of the ids back.)
int32_t last_generator() {
    uint32_t last = definitions::next_id();
    definitions::for_each_row(
        [&](const Row& row) { last = std::max(last, row.number(Column::id)); });
    return static_cast<int32_t>(last);
}

/// The latest time of the origins and states of all generators. `record` limits the origins of
/// earlier generators.
int64_t latest_time(const record::Row& record) {
    slots::map_chunks();
    int64_t latest = std::max(record.origin_ms, latest_unix_ms());
    definitions::for_each_row([&](const Row& row) {
        const auto& time = row[Column::origin];
        if (time && !is_origin_limited(record, row.number(Column::id)))
            latest = std::max(latest, timestamp_ceil_ms(DatumGetTimestampTz(*time)));
    });
    return latest;
}

/// Discard the states if the mark, an origin or a state is ahead of the clock by more than
/// `max_lead_ms`; return false if none is. (Reading a watermark advances a state, but not the
/// mark.) Set the mark to the clock's time, unless it is ahead by no more than that, and attach it.
/// Existing generators may then issue IDs from that time on, so the same write limits their
/// origins.
bool reset(int64_t max_lead_ms) {
    // The lock blocks sessions that advance the mark or attach it. A session that attaches it later
    // reads the mark that is set here.
    Relation table = record::open(ShareRowExclusiveLock);
    mark::require_structure();
    const record::Row present = record::read(table);
    const int64_t latest_ms = clock::now_ms() + max_lead_ms;
    const bool is_needed = present.unix_ms > latest_ms || latest_time(present) > latest_ms;
    if (is_needed) {
        const int32_t last = last_generator();
        wal::require_writable();  // before states are lost
        // Discard the mark first, so that sessions discard IDs that they draw from the old states,
        // and wait for the lock. Read the clock after that: no ID before that time is returned from
        // now on. If an error occurs, the sessions attach the mark that is on disk then.
        mark::discard();
        const int64_t unix_ms = clock::now_ms();
        (void)record::update(table, [&](record::Row& row) {
            // If only origins or watermarks are ahead, the mark is not set back, because it covers
            // IDs that were issued.
            row.unix_ms = row.unix_ms > latest_ms ? unix_ms : std::max(row.unix_ms, unix_ms);
            row.writer = record::Writer::outside;
            row.watermark_ms = std::min(row.watermark_ms, unix_ms);
            row.origin_ms = std::min(row.origin_ms, unix_ms);
            row.origin_generators = std::max(row.origin_generators, last);
        });
        (void)mark::attach();  // so that an extension that is created again begins after the mark
    }
    relation_close(table, ShareRowExclusiveLock);
    return is_needed;
}

}  // namespace

/// snowdrift.reset_clock() → void
SNOWDRIFT_FUNCTION(reset_clock) {
    PreventCommandIfReadOnly("snowdrift.reset_clock()");
    const int64 max_lead_ms = settings::max_clock_lead + lease_ms;
    if (!reset(max_lead_ms))
        ereport(
            ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("clock does not need a reset"),
             errdetail("The mark, the generators' origins and the watermarks that were read are at "
                       "most %lld ms ahead of the server's clock, which does not stop "
                       "generation.",
                       static_cast<long long>(max_lead_ms))));
    PG_RETURN_VOID();
}
