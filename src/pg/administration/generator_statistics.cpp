// The SQL function snowdrift.read_generators(): the definitions, the states and the statistics of
// all generators. The view snowdrift.generators is based on it. A view of the tables would hold
// their locks until the transaction ends, so VACUUM FULL, which waits for them, would block all
// sessions.
#include <algorithm>

#include "pg/named/definition_table.hpp"
#include "pg/named/origin.hpp"
#include "pg/record/record.hpp"
#include "pg/slots/regressions.hpp"
#include "pg/slots/slots.hpp"
#include "pg/states/advance_state.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/datum.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/row.hpp"
#include "pg/support/time.hpp"
#include "pg/types/snowflake_layout_type.hpp"

extern "C" {
#include "utils/builtins.h"
}

using namespace snowdrift;

namespace {

using definitions::Column;
using definitions::Row;
using slots::Kind;

/// The number of regressions; null for ULIDs and UUIDs, whose generators do not count them.
std::optional<Datum> regression_count(const slots::Slot& slot, Kind kind) {
    switch (kind) {
        case Kind::snowflake:
            return Int64GetDatum(regressions::count(slot.snowflake));
        case Kind::sno:
            return Int64GetDatum(static_cast<int64>(slot.sno.regressions.load()));
        case Kind::ulid:
        case Kind::uuidv7:
        case Kind::mark:
            break;
    }
    return std::nullopt;
}

/// The share of the sequence numbers of the clock's time unit that are used; null if IDs are ahead
/// of that unit, and for ULIDs and UUIDs. The clock is read after the state, so IDs that are issued
/// meanwhile are not ahead.
std::optional<Datum> sequence_used(const slots::Slot& slot, const Definition& definition) {
    std::optional<float> share;
    if (definition.kind == Kind::snowflake) {
        const uint64_t word = slot.snowflake.word;
        share = definition.snowflake_generator(0).sequence_used(word, clock::now_ms());
    } else if (definition.kind == Kind::sno) {
        const uint64_t word = slot.sno.word;
        share = definition.sno_generator(0).sequence_used(word, clock::now_ms());
    }
    if (!share) return std::nullopt;
    return Float4GetDatum(*share);
}

/// The time of the last ID that the format can represent, in Unix milliseconds.
int64 last_representable_ms(const Definition& definition) {
    switch (definition.kind) {
        case Kind::snowflake:
            return definition.layout.max_unix_ms();
        case Kind::sno:
            return Sno::max_timestamp_ms;
        case Kind::ulid:
            return Ulid::max_timestamp_ms;
        case Kind::uuidv7:
            return Uuidv7::max_timestamp_ms;
        case Kind::mark:
            break;
    }
    pg_unreachable();
}

/// What is the same for all rows of the result.
struct Listing {
    FunctionCallInfo call;
    record::Row record;  // with the origins
    int64 now_ms;
};

/// Add the row of a generator, with the definition as stored, which may be invalid.
void add_generator(const Listing& listing, const Definition& definition, const Row& row) {
    const slots::SlotKey key = definition.slot_key();
    slots::Slot* const slot = slots::lookup(key);
    std::optional<Datum> last_timestamp, lead, used, waiting, episodes, duration, count;
    if (slot != nullptr) {
        if (const int64 last = last_unix_ms(*slot, key); last != 0) {
            last_timestamp = TimestampTzGetDatum(timestamp_from_unix_ms(last));
            lead = interval_from_ms(std::max<int64_t>(last - listing.now_ms, 0));
        }
        used = sequence_used(*slot, definition);
        waiting = Int32GetDatum(static_cast<int32>(slot->waiting.load()));
        episodes = Int64GetDatum(int64{slot->overflow.episodes.load()});
        duration = interval_from_ms(overflow::duration_ms(slot->overflow, listing.now_ms));
        count = regression_count(*slot, key.kind);
    }
    add_row(listing.call,
            {row[Column::name], row[Column::kind], row[Column::layout], row[Column::datacenter],
             row[Column::worker], row[Column::partition], row[Column::sequence_min],
             row[Column::sequence_max], row[Column::spread], row[Column::this_node_only],
             row[Column::origin],
             TimestampTzGetDatum(timestamp_from_unix_ms(last_representable_ms(definition))),
             last_timestamp, lead, used, waiting, episodes, duration, count});
}

void add_default(const Listing& listing, Kind kind) {
    Row row{};
    row[Column::kind] = CStringGetTextDatum(slots::name_of(kind));
    if (kind == Kind::snowflake) {
        row[Column::layout] = make_datum(default_layout);
        row[Column::origin] = TimestampTzGetDatum(timestamp_from_unix_ms(listing.record.origin_ms));
    }
    add_generator(listing, Definition::of_default(kind), row);
}

void add_named(const Listing& listing, Row row) {
    const Definition definition = row.unchecked_definition();
    auto& origin = row[Column::origin];
    if (origin && is_origin_limited(listing.record, definition.id))
        origin = TimestampTzGetDatum(std::min(DatumGetTimestampTz(*origin),
                                              timestamp_from_unix_ms(listing.record.origin_ms)));
    // The result outlives the table's TOAST values.
    row[Column::name] = PointerGetDatum(PG_DETOAST_DATUM(*row[Column::name]));
    add_generator(listing, definition, row);
}

}  // namespace

/// snowdrift.read_generators() → setof (definition, state and statistics of a generator); state and
/// statistics are null if it has not been used since the server started
SNOWDRIFT_FUNCTION(read_generators) {
    InitMaterializedSRF(fcinfo, 0);
    const Listing listing{fcinfo, record::read(AccessShareLock), clock::now_ms()};
    for (const Kind kind : slots::generator_kinds) add_default(listing, kind);
    definitions::for_each_row([&](const Row& row) { add_named(listing, row); });
    return Datum{0};
}
