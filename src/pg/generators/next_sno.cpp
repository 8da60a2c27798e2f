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
        definition_ = definition;
        name_ = name;
    }

    bool is_prepared() const {
        return slot_.is_attached() && node_version_ == settings::node_version;
    }

    void prepare() {
        const uint64_t version = settings::node_version;  // a change from here on is noticed
        if (definition_) check_unique_in_cluster(*definition_);
        const auto defined_partition = definition_ ? definition_->partition : std::nullopt;
        const uint32_t partition = defined_partition ? *defined_partition : node_for_snos();
        core_ = {static_cast<uint16_t>(partition),
                 static_cast<uint16_t>(definition_ ? definition_->sequence_min : 0),
                 static_cast<uint16_t>(definition_ ? definition_->sequence_max : UINT16_MAX)};
        slot_.attach(
            definition_ ? definition_->slot_key() : slots::SlotKey{MyDatabaseId, slots::Kind::sno},
            definition_ && definition_->is_uncommitted, [](slots::Slot& slot, int64_t unix_ms) {
                SnoGenerator::advance_past(slot.sno, unix_ms);
            });
        if (!defined_partition) log_missing_number();
        node_version_ = noticed_node_version(version);
    }

    bool try_next(int64_t unix_ms, Id& id) {
        return core_.try_next(slot_->sno, unix_ms, metabyte_, id);
    }

    Answer<Id> ask(Request& request) {
        return core_.next(slot_->sno, clock::now_ms(), settings::max_clock_lead, metabyte_,
                          request);
    }

    Sno next(uint8_t metabyte) {
        metabyte_ = metabyte;
        return draw_fast(*this);
    }

    Sno at(int64_t unix_ms, uint8_t metabyte) {
        if (!is_prepared()) prepare();
        return core_.at(slot_->sno, unix_ms, metabyte);
    }

    slots::Slot& slot() const { return *slot_; }
    overflow::Label label() const {
        return {name_, core_.capacity(), static_cast<int>(Sno::unit_ms)};
    }

 private:
    std::optional<Definition> definition_;  // of a named generator
    SessionSlot slot_;
    uint64_t node_version_ = 0;  // settings::node_version when core_ got its partition
    SnoGenerator core_{0, 0, UINT16_MAX};
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
