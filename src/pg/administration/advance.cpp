// The SQL functions snowdrift.advance(): they make all generators of the database, and the mark,
// continue after a time, or after the time of an ID.
#include "pg/draw/clock_behind.hpp"
#include "pg/mark/mark.hpp"
#include "pg/node/node.hpp"
#include "pg/slots/slots.hpp"
#include "pg/states/advance_state.hpp"
#include "pg/support/datum.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/settings.hpp"
#include "pg/types/id_traits.hpp"
#include "pg/types/snowflake_layout_type.hpp"

extern "C" {
#include "tcop/utility.h"
}

using namespace snowdrift;

namespace {

/// Make all further IDs of the database later than the Unix millisecond `unix_ms`. The mark comes
/// first, and then the floor of fresh states: a state that is allocated after the list of slots was
/// read starts after the floor.
void advance_all(int64_t unix_ms) {
    PreventCommandIfReadOnly("snowdrift.advance()");
    check_lead("time", unix_ms, settings::max_clock_lead);
    do {
        (void)mark::attach();
    } while (!mark::cover(unix_ms));
    (void)mark::advance_fresh_floor(unix_ms);
    for (const slots::Allocated& each : slots::list()) {
        if (each.key.database != MyDatabaseId) continue;
        // Other sessions must not allocate the slot for another kind while its state is advanced.
        const slots::Lock lock{LW_EXCLUSIVE};
        if (each.slot->allocation == each.allocation) advance_state(*each.slot, each.key, unix_ms);
    }
    mark::require_structure();
}

/// Warn if an ID of this server's own node is later than the mark: another server has the same
/// node.
void warn_of_equal_number(int64_t unix_ms, uint32_t node) {
    const auto own = find_server_number(citus::read_membership());
    if (!own || node != own->value) return;
    (void)mark::attach();
    if (unix_ms <= record::read().unix_ms) return;
    ereport(WARNING, (errmsg("another server generates IDs with this server's number %u", node),
                      errdetail("The ID is later than all IDs of this server."),
                      errhint("Give each server its own number in snowdrift.node.")));
}

}  // namespace

/// snowdrift.advance(timestamptz) → void
SNOWDRIFT_FUNCTION(advance_to_time) {
    advance_all(get_time<Ulid>(fcinfo, 0));
    PG_RETURN_VOID();
}

/// snowdrift.advance(id bigint, layout snowflake_layout) → void
SNOWDRIFT_FUNCTION(advance_to_snowflake) {
    const SnowflakeLayout& layout = get_layout(PG_GETARG_DATUM(1));
    const int64 id = check_snowflake(layout, PG_GETARG_INT64(0));
    const SnowflakeParts parts = layout.split(id);
    const uint32_t node = parts.datacenter << layout.worker_bits | parts.worker;
    const int64 unix_ms = unix_ms_of(parts.time);
    if (layout.node_bits() > 0) warn_of_equal_number(unix_ms, node);
    advance_all(unix_ms);
    PG_RETURN_VOID();
}

/// snowdrift.advance(id ulid) → void
SNOWDRIFT_FUNCTION(advance_to_ulid) {
    advance_all(get_argument<Ulid>(fcinfo, 0).timestamp_ms());
    PG_RETURN_VOID();
}

/// snowdrift.advance(id uuid) → void
SNOWDRIFT_FUNCTION(advance_to_uuidv7) {
    const auto& bytes = get_argument<Uuidv7::Bytes>(fcinfo, 0);
    if (!Uuidv7::is_version_7(bytes))
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("UUID is not of version 7"),
                 errdetail("The UUID must have version 7 and variant 10.")));
    advance_all(Uuidv7{bytes}.timestamp_ms());
    PG_RETURN_VOID();
}

/// snowdrift.advance(id sno) → void
SNOWDRIFT_FUNCTION(advance_to_sno) {
    const Sno& id = get_argument<Sno>(fcinfo, 0);
    warn_of_equal_number(id.timestamp_ms(), id.partition());
    advance_all(id.timestamp_ms());
    PG_RETURN_VOID();
}
