#include "pg/states/advance_state.hpp"

#include <algorithm>

#include "pg/mark/mark.hpp"
#include "pg/slots/regressions.hpp"

namespace snowdrift {

namespace {

SnowflakeGenerator snowflake_generator(const slots::SlotKey& key) { return {key.layout, 0}; }

template <typename Id>
void advance_blocks(slots::Slot& slot, BlockGenerator<Id>& generator, int64_t unix_ms) {
    SpinLockAcquire(&slot.lock);
    generator.advance_past(unix_ms);
    SpinLockRelease(&slot.lock);
}

/// Reads a time of a block generator while its slot is locked.
template <typename Id>
int64_t read_ms(slots::Slot& slot, const BlockGenerator<Id>& generator,
                int64_t (BlockGenerator<Id>::*time)() const noexcept) {
    SpinLockAcquire(&slot.lock);
    const int64_t unix_ms = (generator.*time)();
    SpinLockRelease(&slot.lock);
    return unix_ms;
}

/// The time of the last ID of a state, or a later one. Its clock may have been set back since.
int64_t highest_unix_ms(slots::Slot& slot) {
    if (slot.key.kind == slots::Kind::sno) return SnoGenerator::highest_unix_ms(slot.sno);
    return last_unix_ms(slot, slot.key);
}

/// The latest time at which a state issues no more IDs.
int64_t closed_unix_ms(slots::Slot& slot) {
    switch (slot.key.kind) {
        case slots::Kind::snowflake: {
            const uint64_t word = slot.snowflake.word;  // may be of a unit that has only begun
            return word == 0 ? 0 : snowflake_generator(slot.key).unix_ms_of(word - 1);
        }
        case slots::Kind::ulid:
            return read_ms(slot, slot.ulid, &BlockGenerator<Ulid>::first_unix_ms);
        case slots::Kind::uuidv7:
            return read_ms(slot, slot.uuidv7, &BlockGenerator<Uuidv7>::first_unix_ms);
        case slots::Kind::sno:
            return highest_unix_ms(slot);
        case slots::Kind::mark:
            break;
    }
    pg_unreachable();
}

/// The maximum of a time of the states of this database's generators.
template <int64_t (*time_of)(slots::Slot&)>
int64_t max_unix_ms() {
    int64_t latest_ms = 0;
    const auto visit = [](slots::Slot& slot, void* latest) {
        auto& ms = *static_cast<int64_t*>(latest);
        ms = std::max(ms, time_of(slot));
    };
    slots::visit_generators(visit, &latest_ms);
    return latest_ms;
}

}  // namespace

void advance_state(slots::Slot& slot, const slots::SlotKey& key, int64_t unix_ms) {
    switch (key.kind) {
        case slots::Kind::snowflake:
            regressions::advance_past(slot.snowflake, snowflake_generator(key), unix_ms);
            break;
        case slots::Kind::sno:
            SnoGenerator::advance_past(slot.sno, unix_ms);
            break;
        case slots::Kind::ulid:
            advance_blocks(slot, slot.ulid, unix_ms);
            break;
        case slots::Kind::uuidv7:
            advance_blocks(slot, slot.uuidv7, unix_ms);
            break;
        case slots::Kind::mark:
            break;
    }
}

int64_t last_unix_ms(slots::Slot& slot, const slots::SlotKey& key) {
    switch (key.kind) {
        case slots::Kind::snowflake: {
            const uint64_t word = slot.snowflake.word;
            return word == 0 ? 0 : snowflake_generator(key).unix_ms_of(word);
        }
        case slots::Kind::sno:
            return SnoGenerator::last_unix_ms(slot.sno);
        case slots::Kind::ulid:
            return read_ms(slot, slot.ulid, &BlockGenerator<Ulid>::last_unix_ms);
        case slots::Kind::uuidv7:
            return read_ms(slot, slot.uuidv7, &BlockGenerator<Uuidv7>::last_unix_ms);
        case slots::Kind::mark:
            break;
    }
    return 0;
}

int64_t latest_unix_ms() { return max_unix_ms<closed_unix_ms>(); }

int64_t advance_fresh_floor() { return mark::advance_fresh_floor(max_unix_ms<highest_unix_ms>()); }

}  // namespace snowdrift
