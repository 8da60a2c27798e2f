// The SQL functions that generate sno values: next_sno() at the current time, sno_at() at a given
// one, from the database's default generator or from a named one.
#include "pg/draw/draw.hpp"
#include "pg/draw/node_handle.hpp"
#include "pg/named/generator_cache.hpp"
#include "pg/support/checks.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/datum.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/settings.hpp"
#include "pg/types/id_traits.hpp"
#include "protocol/generators.hpp"

using namespace snowdrift;

namespace {

class SnoHandle : public NodeHandle {
 public:
    using Id = Sno;
    static constexpr slots::Kind kind = slots::Kind::sno;

    constexpr SnoHandle() : NodeHandle{kind} {}

    void prepare() { core_ = definition_.sno_generator(attach()); }

    bool try_next(int64_t unix_ms, Id& id) {
        return core_.try_next(slot_->sno, unix_ms, metabyte_, id);
    }

    Answer<Id> ask(Request& request) {
        return core_.next(slot_->sno, clock::now_ms(), settings::max_clock_lead, metabyte_,
                          request);
    }

    int64_t begin_unit() { pg_unreachable(); }  // sno values have no watermark

    Sno next(uint8_t metabyte) {
        metabyte_ = metabyte;
        return draw_fast(*this);
    }

    Sno at(int64_t unix_ms, uint8_t metabyte) {
        if (!is_prepared()) prepare();
        return core_.at(slot_->sno, unix_ms, metabyte);
    }

    Label label() const { return {name_, core_.capacity(), static_cast<int>(Sno::unit_ms)}; }

 private:
    SnoGenerator core_{0, 0, UINT16_MAX};
    uint8_t metabyte_ = 0;  // of the next sno
};

SnoHandle default_snos;
GeneratorCache<SnoHandle> named_snos;

}  // namespace

/// next_sno(metabyte int) → sno
SNOWDRIFT_FUNCTION(next_sno) {
    return make_datum(default_snos.next(check_metabyte(PG_GETARG_INT32(0))));
}

/// next_sno(generator text, metabyte int) → sno
SNOWDRIFT_FUNCTION(next_sno_of) {
    const uint8_t metabyte = check_metabyte(PG_GETARG_INT32(1));
    return make_datum(named_snos.get(PG_GETARG_TEXT_PP(0)).next(metabyte));
}

/// sno_at(timestamptz, metabyte int) → sno
SNOWDRIFT_FUNCTION(sno_at) {
    const int64 unix_ms = get_time<Sno>(fcinfo, 0);
    return make_datum(default_snos.at(unix_ms, check_metabyte(PG_GETARG_INT32(1))));
}

/// sno_at(timestamptz, metabyte int, generator text) → sno
SNOWDRIFT_FUNCTION(sno_at_of) {
    const int64 unix_ms = get_time<Sno>(fcinfo, 0);
    const uint8_t metabyte = check_metabyte(PG_GETARG_INT32(1));
    return make_datum(named_snos.get(PG_GETARG_TEXT_PP(2)).at(unix_ms, metabyte));
}
