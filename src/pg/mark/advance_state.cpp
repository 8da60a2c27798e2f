#include "pg/mark/advance_state.hpp"

#include <algorithm>

#include "pg/mark/mark.hpp"

#include "pg/mark/regressions.hpp"
#include "pg/types/snowflake_layout_type.hpp"

namespace snowdrift {

namespace {

template <typename Id>
void advance_blocks(slots::Slot& slot, BlockGenerator<Id>& generator, int64_t unix_ms) {
    SpinLockAcquire(&slot.lock);
    generator.advance_past(unix_ms);
    SpinLockRelease(&slot.lock);
}

/// The time of the last ID of a state, in Unix milliseconds, or a later time. A fresh state may
/// have any time that is not later than the mark.
int64_t last_ms(const slots::Slot& slot) {
    const slots::SlotKey& key = slot.key;
    switch (key.kind) {
        case slots::Kind::snowflake: {
            const SnowflakeLayout& layout = key.is_default() ? default_layout : key.layout;
            return SnowflakeGenerator{layout, 0}.unix_ms_of(slot.snowflake.word);
        }
        case slots::Kind::sno:
            return SnoGenerator::highest_unix_ms(slot.sno);
        case slots::Kind::ulid:
            return slot.ulid.last_unix_ms();
        case slots::Kind::uuidv7:
            return slot.uuidv7.last_unix_ms();
        case slots::Kind::mark:
            break;
    }
    return 0;
}

}  // namespace

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
            advance_blocks(slot, slot.ulid, unix_ms);
            break;
        case slots::Kind::uuidv7:
            advance_blocks(slot, slot.uuidv7, unix_ms);
            break;
        case slots::Kind::mark:
            break;
    }
}

int64_t advance_fresh_floor() {
    int64_t latest_ms = 0;
    const auto visit = [](const slots::Slot& slot, void* latest) {
        auto& ms = *static_cast<int64_t*>(latest);
        ms = std::max(ms, last_ms(slot));
    };
    slots::visit_generators(visit, &latest_ms);
    return mark::advance_fresh_floor(latest_ms);
}

}  // namespace snowdrift
