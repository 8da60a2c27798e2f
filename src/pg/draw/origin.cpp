#include "pg/draw/origin.hpp"

#include <algorithm>

#include "pg/mark/advance_state.hpp"
#include "pg/mark/mark_table.hpp"
#include "pg/support/extension.hpp"
#include "pg/support/postgres.hpp"

extern "C" {
#include "access/relation.h"
}

namespace snowdrift {
namespace {

/// The origin, which the mark's row limits after snowdrift.reset_clock().
std::optional<int64_t> find_origin(const mark_table::Origin& common,
                                   const std::optional<Definition>& definition) {
    if (!definition) return common.unix_ms;
    const bool is_limited = static_cast<int64_t>(definition->id) <= common.last_generator;
    if (!definition->origin_ms || !is_limited) return definition->origin_ms;
    return std::min(*definition->origin_ms, common.unix_ms);
}

}  // namespace

std::optional<int64_t> read_origin(const std::optional<Definition>& definition) {
    return find_origin(mark_table::read().origin, definition);
}

bool attach_after_origin(SessionSlot& slot, const slots::SlotKey& key,
                         const std::optional<Definition>& definition, Relation mark) {
    if (definition && definition->table != extension::find_relation("generator")) return false;
    slot.attach(key, definition && definition->is_uncommitted);
    const auto origin = find_origin(mark_table::read(mark).origin, definition);
    if (origin && key.kind == slots::Kind::snowflake) advance_state(*slot, key, *origin - 1);
    return true;
}

}  // namespace snowdrift
