// The SQL functions snowdrift.advance(): they make all generators of the database, and the mark,
// continue after a time, or after the time of an ID.
#include <algorithm>

#include "pg/durability/mark.hpp"
#include "pg/generators/node.hpp"
#include "pg/generators/regressions.hpp"
#include "pg/memory/slots.hpp"
#include "pg/support/checks.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/datum.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/settings.hpp"
#include "pg/support/time.hpp"
#include "pg/types/id_traits.hpp"
#include "pg/types/snowflake_layout_type.hpp"

extern "C" {
#include "tcop/utility.h"
}

using namespace snowdrift;

namespace {

/// Advance the state of a generator past a Unix millisecond.
void advance_state(slots::Slot& slot, const slots::SlotKey& key, int64_t unix_ms) {
    switch (key.kind) {
        case slots::Kind::snowflake: {
            const SnowflakeLayout& layout = key.is_default() ? default_layout : key.layout;
            regressions::advance_past(slot.snowflake, SnowflakeGenerator{layout, 0}, unix_ms);
            break;
        }
        case slots::Kind::sno:
            SnoGenerator::advance_past(slot.sno, unix_ms);
            break;
        case slots::Kind::ulid:
            SpinLockAcquire(&slot.lock);
            slot.ulid.advance_past(unix_ms);
            SpinLockRelease(&slot.lock);
            break;
        case slots::Kind::mark:
            break;
    }
}

/// Ensure that generators can issue IDs after that time at once, or after a short wait.
void check_lead(int64_t unix_ms) {
    const int64_t lead = unix_ms - clock::now_ms();
    if (lead <= settings::max_clock_lead) return;
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("time is %lld ms ahead of the server's clock", static_cast<long long>(lead)),
             errdetail("snowdrift.max_clock_lead allows %d ms.", settings::max_clock_lead),
             errhint("Correct the clock, wait until it has caught up, or increase "
                     "snowdrift.max_clock_lead.")));
}

/// Make all further IDs of the database later than the Unix millisecond. A rollback does not undo
/// this, which is safe: the mark and the states only move forward.
///
/// The mark comes first, and then the floor of fresh states: a state that is allocated after the
/// list was read starts after the mark.
void advance(int64_t unix_ms) {
    PreventCommandIfReadOnly("snowdrift.advance()");
    check_lead(unix_ms);
    do {
        (void)mark::attach();
    } while (!mark::cover(unix_ms));
    mark::advance_fresh_floor();
    for (const slots::Allocated& each : slots::list()) {
        if (each.key.database != MyDatabaseId) continue;
        // Other sessions must not allocate the slot for another kind while its state is advanced.
        const slots::AllocationLock lock;
        if (each.slot->allocation == each.allocation) advance_state(*each.slot, each.key, unix_ms);
    }
}

/// Warn if an ID of this server's own node is later than the mark: another server has the same
/// node.
void warn_of_twin(int64_t unix_ms, uint32_t node) {
    if (node != find_server_number()) return;
    (void)mark::attach();
    if (unix_ms <= mark::read()) return;
    ereport(WARNING, (errmsg("another server generates IDs with this server's number %u", node),
                      errdetail("The ID is later than all IDs of this server."),
                      errhint("Give each server its own number in snowdrift.node.")));
}

}  // namespace

/// snowdrift.advance(timestamptz) → void
SNOWDRIFT_FUNCTION(advance_to_time) {
    const TimestampTz time = PG_GETARG_TIMESTAMPTZ(0);
    advance(check_time(IdTraits<Ulid>::times, time, unix_ms_floor(time)));
    PG_RETURN_VOID();
}

/// snowdrift.advance(id bigint, layout snowflake_layout) → void
SNOWDRIFT_FUNCTION(advance_to_snowflake) {
    const SnowflakeLayout& layout = get_layout(PG_GETARG_DATUM(1));
    const int64 id = check_snowflake(layout, PG_GETARG_INT64(0));
    const SnowflakeParts parts = layout.split(id);
    const uint32_t node = parts.datacenter << layout.worker_bits | parts.worker;
    if (layout.node_bits() > 0) warn_of_twin(parts.unix_ms, node);
    advance(parts.unix_ms);
    PG_RETURN_VOID();
}

/// snowdrift.advance(id ulid) → void
SNOWDRIFT_FUNCTION(advance_to_ulid) {
    advance(get_argument<Ulid>(fcinfo, 0).timestamp_ms());
    PG_RETURN_VOID();
}

/// snowdrift.advance(id sno) → void
SNOWDRIFT_FUNCTION(advance_to_sno) {
    const Sno& id = get_argument<Sno>(fcinfo, 0);
    warn_of_twin(id.timestamp_ms(), id.partition());
    advance(id.timestamp_ms());
    PG_RETURN_VOID();
}
