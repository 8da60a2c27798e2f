// The SQL functions that generate snos: next_sno() at the current time, sno_at() at a given one,
// from the database's default generator or from a named one.
#include "core/sno_generator.hpp"
#include "pg/generators/draw.hpp"
#include "pg/generators/generator_cache.hpp"
#include "pg/generators/node.hpp"
#include "pg/support/checks.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/datum.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/settings.hpp"
#include "pg/types/id_traits.hpp"

using namespace snowdrift;

namespace {

/// This session's view of a generator: a named one after define(), else the database's default one.
class SnoSession {
 public:
    using Id = Sno;
    static constexpr GeneratorKind kind = GeneratorKind::sno;

    void define(const Definition& definition, const char* name) {
        slot_.detach();
        key_ = definition.slot_key();
        is_uncommitted_ = definition.is_uncommitted;
        name_ = name;
        defined_partition_ = definition.partition;
        sequence_min_ = static_cast<uint16_t>(definition.sequence_min);
        sequence_max_ = static_cast<uint16_t>(definition.sequence_max);
    }

    bool is_prepared() const { return slot_.is_attached(); }

    void prepare() {
        slot_.attach(key_.value_or(slots::SlotKey{MyDatabaseId, slots::Kind::sno}), is_uncommitted_,
                     [](slots::Slot& slot, int64_t unix_ms) {
                         SnoGenerator::advance_past(slot.sno, unix_ms);
                     });
    }

    bool try_next(int64_t unix_ms, Id& id) {
        return core().try_next(slot_->sno, unix_ms, metabyte_, id);
    }

    Answer<Id> ask(Request& request) {
        return core().next(slot_->sno, clock::now_ms(), settings::max_clock_lead, metabyte_,
                           request);
    }

    Sno next(uint8_t metabyte) {
        metabyte_ = metabyte;
        return draw_fast(*this);
    }

    Sno at(int64_t unix_ms, uint8_t metabyte) {
        if (!is_prepared()) prepare();
        return core().at(slot_->sno, unix_ms, metabyte);
    }

    slots::Slot& slot() const { return *slot_; }
    overflow::Label label() const {
        return {name_, core().capacity(), static_cast<int>(Sno::unit_ms)};
    }

 private:
    SnoGenerator core() const {
        const uint16_t partition =
            defined_partition_ ? static_cast<uint16_t>(*defined_partition_) : node_for_snos();
        return {partition, sequence_min_, sequence_max_};
    }

    std::optional<slots::SlotKey> key_;  // set for a named generator
    bool is_uncommitted_ = false;
    SessionSlot slot_;
    std::optional<uint32_t> defined_partition_;
    uint16_t sequence_min_ = 0;
    uint16_t sequence_max_ = UINT16_MAX;
    uint8_t metabyte_ = 0;  // of the next sno
    const char* name_ = "sno";
};
static_assert(FastSessionGenerator<SnoSession>);

SnoSession default_generator;
GeneratorCache<SnoSession> named_generators;

int64 time_argument(FunctionCallInfo fcinfo) {
    const TimestampTz time = PG_GETARG_TIMESTAMPTZ(0);
    return check_time(IdTraits<Sno>::times, time, unix_ms_floor(time));
}

}  // namespace

/// next_sno(metabyte int) → sno
SNOWDRIFT_FUNCTION(next_sno) {
    return make_datum(default_generator.next(check_metabyte(PG_GETARG_INT32(0))));
}

/// next_sno(generator text, metabyte int) → sno
SNOWDRIFT_FUNCTION(next_sno_of) {
    const uint8_t metabyte = check_metabyte(PG_GETARG_INT32(1));
    return make_datum(named_generators.get(PG_GETARG_TEXT_PP(0)).next(metabyte));
}

/// sno_at(timestamptz, metabyte int) → sno
SNOWDRIFT_FUNCTION(sno_at) {
    const int64 unix_ms = time_argument(fcinfo);
    return make_datum(default_generator.at(unix_ms, check_metabyte(PG_GETARG_INT32(1))));
}

/// sno_at(timestamptz, metabyte int, generator text) → sno
SNOWDRIFT_FUNCTION(sno_at_of) {
    const int64 unix_ms = time_argument(fcinfo);
    const uint8_t metabyte = check_metabyte(PG_GETARG_INT32(1));
    return make_datum(named_generators.get(PG_GETARG_TEXT_PP(2)).at(unix_ms, metabyte));
}
