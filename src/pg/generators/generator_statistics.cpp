// The SQL function snowdrift.read_generators(): the definitions, the states and the statistics of
// all generators. The view snowdrift.generators is based on it. A view of the tables would hold
// their locks until the transaction ends, so VACUUM FULL, which waits for them, would block all
// sessions.
#include <algorithm>

#include "pg/durability/mark_table.hpp"
#include "pg/generators/definition_table.hpp"
#include "pg/generators/overflow.hpp"
#include "pg/generators/regressions.hpp"
#include "pg/memory/slots.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/datum.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/row.hpp"
#include "pg/support/time.hpp"
#include "pg/types/snowflake_layout_type.hpp"
#include "protocol/generators.hpp"

extern "C" {
#include "access/relation.h"
#include "access/table.h"
#include "access/xlog.h"
#include "utils/builtins.h"
}

using namespace snowdrift;

namespace {

using definitions::Column;
using definitions::Row;
using mark_table::Origin;
using slots::Kind;

template <typename Id>
int64 last_block_ms(slots::Slot& slot, const BlockGenerator<Id>& generator) {
    SpinLockAcquire(&slot.lock);
    const int64 last = generator.last_unix_ms();
    SpinLockRelease(&slot.lock);
    return last;
}

/// The time of a slot's last ID, in Unix milliseconds; 0 if there is none.
int64 last_unix_ms(slots::Slot& slot, const slots::SlotKey& key) {
    const Kind kind = key.kind;
    if (kind == Kind::ulid) return last_block_ms(slot, slot.ulid);
    if (kind == Kind::uuidv7) return last_block_ms(slot, slot.uuidv7);
    if (kind == Kind::sno) return SnoGenerator::last_unix_ms(slot.sno);
    const uint64_t word = slot.snowflake.word;
    const SnowflakeLayout& layout = key.is_default() ? default_layout : key.layout;
    return word == 0 ? 0 : SnowflakeGenerator{layout, 0}.unix_ms_of(word);
}

/// The number of regressions; null for ULIDs and UUIDs, whose generators do not count them.
std::optional<Datum> regression_count(const slots::Slot& slot, Kind kind) {
    if (kind == Kind::ulid || kind == Kind::uuidv7) return std::nullopt;
    if (kind == Kind::sno) return Int64GetDatum(static_cast<int64>(slot.sno.regressions.load()));
    return Int64GetDatum(regressions::count(slot.snowflake));
}

/// What is the same for all rows of the result.
struct Listing {
    FunctionCallInfo call;
    Origin origin;    // of the default generator, and the limit of the others'
    bool has_states;  // not during recovery
    int64 now_ms;
};

/// The columns of a definition that the result shows, without the id: as stored, so that the
/// definition may be invalid.
struct Shown {
    std::optional<Datum> name, kind, layout, datacenter, worker, partition, sequence_min,
        sequence_max, this_node_only, origin;
};

/// Add the row of the generator whose state has the key `key`.
void add_generator(const Listing& listing, const slots::SlotKey& key, const Shown& shown) {
    slots::Slot* const slot = listing.has_states ? slots::lookup(key) : nullptr;
    std::optional<Datum> last_timestamp, lead, waiting, episodes, duration, count;
    if (slot != nullptr) {
        if (const int64 last = last_unix_ms(*slot, key); last != 0) {
            last_timestamp = TimestampTzGetDatum(timestamp_from_unix_ms(last));
            lead = interval_from_ms(std::max<int64>(last - listing.now_ms, 0));
        }
        const slots::Statistics& statistics = slot->statistics;
        waiting = Int32GetDatum(static_cast<int32>(statistics.waiting.load()));
        episodes = Int64GetDatum(int64{statistics.episodes.load()});
        duration = interval_from_ms(overflow::duration_ms(statistics, listing.now_ms));
        count = regression_count(*slot, key.kind);
    }
    add_row(listing.call,
            {shown.name, shown.kind, shown.layout, shown.datacenter, shown.worker, shown.partition,
             shown.sequence_min, shown.sequence_max, shown.this_node_only, shown.origin,
             last_timestamp, lead, waiting, episodes, duration, count});
}

void add_default(const Listing& listing, Kind kind, const char* name) {
    const slots::SlotKey key{MyDatabaseId, kind};
    Shown shown{};
    shown.kind = CStringGetTextDatum(name);
    if (kind == Kind::snowflake) {
        shown.layout = make_datum(default_layout);
        shown.origin = TimestampTzGetDatum(timestamp_from_unix_ms(listing.origin.unix_ms));
    }
    add_generator(listing, key, shown);
}

/// A text column, as a copy that stays valid after the table is closed.
std::optional<Datum> get_text(const Row& row, Column column) {
    const auto stored = row.get(column);
    if (!stored) return std::nullopt;
    return PointerGetDatum(PG_DETOAST_DATUM(*stored));
}

void add_named(const Listing& listing, const Row& row) {
    const GeneratorId generator = row.generator();
    slots::SlotKey key{MyDatabaseId,
                       row.has_text(Column::kind, "sno") ? Kind::sno : Kind::snowflake,
                       generator.table,
                       generator.id,
                       static_cast<uint32_t>(row.get_number(Column::sequence_min)),
                       static_cast<uint32_t>(row.get_number(Column::sequence_max))};
    const auto layout = row.get(Column::layout);
    if (key.kind == Kind::snowflake) key.layout = layout ? get_layout(*layout) : default_layout;
    auto origin = row.get(Column::origin);
    if (origin && static_cast<int64>(generator.id) <= listing.origin.last_generator)
        origin = TimestampTzGetDatum(
            std::min(DatumGetTimestampTz(*origin), timestamp_from_unix_ms(listing.origin.unix_ms)));
    add_generator(listing, key,
                  {get_text(row, Column::name), get_text(row, Column::kind), layout,
                   row.get(Column::datacenter), row.get(Column::worker), row.get(Column::partition),
                   row.get(Column::sequence_min), row.get(Column::sequence_max),
                   row.get(Column::this_node_only), origin});
}

Origin read_common_origin() {
    Relation table = mark_table::open();
    const Origin origin = mark_table::read(table).origin;
    relation_close(table, RowExclusiveLock);
    return origin;
}

}  // namespace

/// snowdrift.read_generators() → setof (definition, state and statistics of a generator); state and
/// statistics are null if it has not been used since the server started
SNOWDRIFT_FUNCTION(read_generators) {
    InitMaterializedSRF(fcinfo, 0);
    const bool has_states = !RecoveryInProgress();
    const Listing listing{fcinfo, read_common_origin(), has_states, clock::now_ms()};
    add_default(listing, Kind::snowflake, "snowflake");
    add_default(listing, Kind::sno, "sno");
    add_default(listing, Kind::ulid, "ulid");
    add_default(listing, Kind::uuidv7, "uuidv7");
    Relation table = definitions::open_table();
    (void)definitions::find_row(table, nullptr, [&](const Row& row) {
        add_named(listing, row);
        return false;
    });
    table_close(table, AccessShareLock);
    return Datum{0};
}
