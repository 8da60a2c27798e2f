// The origin of a Snowflake generator: the time from which it issues IDs. snowflake_at() issues IDs
// of earlier times.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "pg/named/definition.hpp"
#include "pg/record/record.hpp"

namespace snowdrift {

/// Whether `record` limits the origin of the named generator with this id: after
/// snowdrift.reset_clock(), it may have issued IDs of times from record.origin_ms on.
inline bool is_origin_limited(const record::Row& record, uint32_t id) {
    return int64_t{id} <= record.origin_generators;
}

/// The origin of a Snowflake generator, in Unix milliseconds; nothing if it is unknown. `record`
/// has that of the default generator.
inline std::optional<int64_t> find_origin(const record::Row& record, const Definition& definition) {
    Assert(definition.kind == slots::Kind::snowflake);
    if (definition.is_default()) return record.origin_ms;
    if (!definition.origin_ms || !is_origin_limited(record, definition.id))
        return definition.origin_ms;
    return std::min(*definition.origin_ms, record.origin_ms);
}

}  // namespace snowdrift
