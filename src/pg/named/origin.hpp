// The origin of a Snowflake generator: the time from which it issues IDs. snowflake_at() issues IDs
// of earlier times.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "pg/named/definition.hpp"
#include "pg/record/record.hpp"

namespace snowdrift {

/// The origin of a Snowflake generator, in Unix milliseconds; nothing if it is unknown. `record`
/// has that of the default generator. After snowdrift.reset_clock(), it also limits the origins of
/// the generators with ids up to record.origin_generators: these may have issued IDs of times from
/// record.origin_ms on.
inline std::optional<int64_t> find_origin(const record::Row& record, const Definition& definition) {
    Assert(definition.kind == slots::Kind::snowflake);
    if (definition.is_default()) return record.origin_ms;
    const bool is_limited = int64_t{definition.id} <= record.origin_generators;
    if (!definition.origin_ms || !is_limited) return definition.origin_ms;
    return std::min(*definition.origin_ms, record.origin_ms);
}

}  // namespace snowdrift
