// What a snapshot of a generator holds, and its form as jsonb.
#pragma once

#include <optional>

#include "core/sno_generator.hpp"
#include "core/snowflake_generator.hpp"
#include "pg/generators/definitions.hpp"
#include "pg/support/postgres.hpp"

namespace snowdrift {

/// A generator at one time: its definition, and how far it has come.
struct GeneratorSnapshot {
    Definition definition;                         ///< without an id
    std::optional<SnowflakeGenerator::Last> last;  ///< of a Snowflake generator
    SnoUse use;                                    ///< of a sno generator
    uint64_t drifts = 0;                           ///< as in SnoState
    uint64_t at_count = 0;                         ///< the same

    /// The last time that IDs may carry, in Unix milliseconds; 0 if there are none.
    int64_t last_unix_ms() const {
        if (definition.kind == GeneratorKind::snowflake) return last ? last->unix_ms : 0;
        return use.highest() > 0 ? SnoGenerator::unix_ms_of(use.highest()) : 0;
    }

    SnowflakeGenerator snowflake_generator() const {
        return {definition.layout, definition.node().value_or(0), definition.sequence_min,
                definition.sequence_max};
    }

    SnoGenerator sno_generator() const {
        return {static_cast<uint16_t>(definition.partition.value_or(0)),
                static_cast<uint16_t>(definition.sequence_min),
                static_cast<uint16_t>(definition.sequence_max)};
    }
};

/// The snapshot, taken at the Unix millisecond `now_ms`, as a Datum of type jsonb.
Datum write_snapshot(const GeneratorSnapshot& snapshot, int64_t now_ms);

/// The snapshot that a Datum of type jsonb holds. Raises 22023 where it is none or contradicts
/// itself, 22003 and 22008 where a number or a time is not one of the format.
GeneratorSnapshot read_snapshot(Datum json);

}  // namespace snowdrift
