// New snos in SQL: at the present time, and at times that the caller brings.
#include "core/sno_generator.hpp"

#include "pg/checks.hpp"
#include "pg/clock.hpp"
#include "pg/draw.hpp"
#include "pg/id_datum.hpp"
#include "pg/postgres.hpp"
#include "pg/settings.hpp"
#include "pg/slots.hpp"

using namespace snowdrift;

namespace {

constexpr TimeRange sno_times{"a sno", Sno::epoch_unix_ms, Sno::max_timestamp_ms};
constexpr uint16_t sequence_min = 0;
constexpr uint16_t sequence_max = UINT16_MAX;

/// This session's view of the database's default generator. Its partition is snowdrift.node.
class SessionGenerator {
 public:
    bool is_prepared() const { return slot_.is_attached(); }

    void prepare() {
        slot_.attach(slots::default_sno, [](slots::Slot& slot, int64_t unix_ms) {
            SnoGenerator::move_past(slot.sno, unix_ms);
        });
    }

    SnoGenerator::Answer ask(Request&) {
        return core().next(slot_->sno, clock::now_ms(), settings::max_clock_lead, metabyte_);
    }

    Sno at(int64_t unix_ms, uint8_t metabyte) {
        if (!is_prepared()) prepare();
        return core().at(slot_->sno, unix_ms, metabyte);
    }

    void set_metabyte(uint8_t metabyte) { metabyte_ = metabyte; }
    slots::Slot& slot() const { return *slot_; }
    overflow::Name name() const {
        return {"sno", core().capacity(), static_cast<int>(Sno::unit_ms)};
    }

 private:
    static SnoGenerator core() {
        return {static_cast<uint16_t>(settings::node), sequence_min, sequence_max};
    }

    SessionSlot slot_;
    uint8_t metabyte_ = 0;
};

SessionGenerator session_generator;

uint8_t check_metabyte(int32 value) {
    return static_cast<uint8_t>(check_field("metabyte", value, UINT8_MAX));
}

}  // namespace

/// next_sno(metabyte int) → sno
SNOWDRIFT_FUNCTION(next_sno) {
    session_generator.set_metabyte(check_metabyte(PG_GETARG_INT32(0)));
    return make_datum(draw(session_generator));
}

/// sno_at(timestamptz, metabyte int) → sno
SNOWDRIFT_FUNCTION(sno_at) {
    const TimestampTz time = PG_GETARG_TIMESTAMPTZ(0);
    const int64 unix_ms = check_time(sno_times, time, unix_ms_floor(time));
    return make_datum(session_generator.at(unix_ms, check_metabyte(PG_GETARG_INT32(1))));
}
