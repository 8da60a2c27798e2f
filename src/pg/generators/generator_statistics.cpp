// The SQL function snowdrift.read_generator(): the state and the statistics of a generator. The
// view snowdrift.generators is based on it.
#include <algorithm>
#include <cstring>

#include "core/generators.hpp"
#include "pg/generators/overflow.hpp"
#include "pg/generators/regressions.hpp"
#include "pg/memory/slots.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/extension.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/row.hpp"
#include "pg/support/time.hpp"
#include "pg/types/snowflake_layout_type.hpp"

extern "C" {
#include "access/xlog.h"
#include "utils/builtins.h"
}

using namespace snowdrift;

namespace {

/// The arguments of read_generator(), in order.
enum Argument { id, kind, layout, sequence_min, sequence_max };

slots::Kind kind_argument(FunctionCallInfo fcinfo) {
    const char* const name = text_to_cstring(PG_GETARG_TEXT_PP(kind));
    if (std::strcmp(name, "ulid") == 0) return slots::Kind::ulid;
    if (std::strcmp(name, "uuidv7") == 0) return slots::Kind::uuidv7;
    return std::strcmp(name, "sno") == 0 ? slots::Kind::sno : slots::Kind::snowflake;
}

SnowflakeLayout layout_argument(FunctionCallInfo fcinfo) {
    return PG_ARGISNULL(layout) ? default_layout : get_layout(PG_GETARG_DATUM(layout));
}

/// The key of the generator's slot; the default generator's if the id is null.
slots::SlotKey slot_key(FunctionCallInfo fcinfo) {
    slots::SlotKey key{MyDatabaseId, kind_argument(fcinfo)};
    if (PG_ARGISNULL(id) || PG_ARGISNULL(sequence_min) || PG_ARGISNULL(sequence_max)) return key;
    key.definitions = extension::find_relation("generator");
    key.id = static_cast<uint32_t>(PG_GETARG_INT32(id));
    if (key.kind == slots::Kind::snowflake) key.layout = layout_argument(fcinfo);
    key.sequence_min = static_cast<uint32_t>(PG_GETARG_INT32(sequence_min));
    key.sequence_max = static_cast<uint32_t>(PG_GETARG_INT32(sequence_max));
    return key;
}

template <typename Id>
int64 last_block_ms(slots::Slot& slot, const BlockGenerator<Id>& generator) {
    SpinLockAcquire(&slot.lock);
    const int64 last = generator.last_unix_ms();
    SpinLockRelease(&slot.lock);
    return last;
}

/// The time of a slot's last ID, in Unix milliseconds; 0 if there is none.
int64 last_unix_ms(slots::Slot& slot, slots::Kind kind, const SnowflakeLayout& layout) {
    if (kind == slots::Kind::ulid) return last_block_ms(slot, slot.ulid);
    if (kind == slots::Kind::uuidv7) return last_block_ms(slot, slot.uuidv7);
    if (kind == slots::Kind::sno) return SnoGenerator::last_unix_ms(slot.sno);
    const uint64_t word = slot.snowflake.word;
    return word == 0 ? 0 : SnowflakeGenerator{layout, 0}.unix_ms_of(word);
}

/// The number of regressions; null for ULIDs and UUIDs, whose generators do not count them.
std::optional<Datum> regression_count(const slots::Slot& slot, slots::Kind kind) {
    if (kind == slots::Kind::ulid || kind == slots::Kind::uuidv7) return std::nullopt;
    if (kind == slots::Kind::sno)
        return Int64GetDatum(static_cast<int64>(slot.sno.regressions.load()));
    return Int64GetDatum(regressions::count(slot.snowflake));
}

}  // namespace

/// snowdrift.read_generator(id int, kind text, layout snowflake_layout, sequence_min int,
/// sequence_max int) → state and statistics; all null if the generator has not been used since the
/// server started
SNOWDRIFT_FUNCTION(read_generator) {
    slots::Slot* slot = nullptr;
    if (!PG_ARGISNULL(kind) && !RecoveryInProgress()) {
        slots::require_structure();
        slot = slots::lookup(slot_key(fcinfo));
    }
    if (slot == nullptr) return make_row(fcinfo, {{}, {}, {}, {}, {}, {}});

    const slots::Kind slot_kind = kind_argument(fcinfo);
    const int64 now = clock::now_ms();
    std::optional<Datum> last_timestamp;
    std::optional<Datum> lead;
    if (const int64 last = last_unix_ms(*slot, slot_kind, layout_argument(fcinfo)); last != 0) {
        last_timestamp = TimestampTzGetDatum(timestamp_from_unix_ms(last));
        lead = interval_from_ms(std::max<int64>(last - now, 0));
    }
    const slots::Statistics& statistics = slot->statistics;
    return make_row(
        fcinfo, {last_timestamp, lead, Int32GetDatum(static_cast<int32>(statistics.waiting.load())),
                 Int64GetDatum(int64{statistics.episodes.load()}),
                 interval_from_ms(overflow::duration_ms(statistics, now)),
                 regression_count(*slot, slot_kind)});
}
