#include "pg/generators/advance_state.hpp"

#include "pg/generators/regressions.hpp"
#include "pg/types/snowflake_layout_type.hpp"

namespace snowdrift {

namespace {

template <typename Id>
void advance_blocks(slots::Slot& slot, BlockGenerator<Id>& generator, int64_t unix_ms) {
    SpinLockAcquire(&slot.lock);
    generator.advance_past(unix_ms);
    SpinLockRelease(&slot.lock);
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

}  // namespace snowdrift
