// A snapshot of a generator, and its jsonb form.
#pragma once

#include <optional>

#include "pg/named/definitions.hpp"
#include "pg/support/postgres.hpp"
#include "protocol/generators.hpp"

namespace snowdrift {

/// The definition of a generator, and the position of its state at one time.
struct GeneratorSnapshot {
    Definition definition;                                           ///< `table` and `id` are unset
    std::optional<SnowflakeGenerator::Position> snowflake_position;  ///< of a Snowflake generator
    SnoPosition sno_position;                                        ///< of a sno generator
    uint64_t regressions = 0;                                        ///< see SnoState
    uint64_t at_count = 0;                                           ///< see SnoState

    /// The time of the last ID, in Unix milliseconds; 0 if there is none.
    int64_t last_unix_ms() const {
        if (definition.kind == slots::Kind::snowflake)
            return snowflake_position ? snowflake_position->unix_ms : 0;
        const uint64_t units = sno_position.highest();
        return units > 0 ? SnoGenerator::unix_ms_of(units) : 0;
    }
};

/// Returns the snapshot as a Datum of type jsonb. `now_ms`: the time when it was taken, in Unix
/// milliseconds.
Datum write_snapshot(const GeneratorSnapshot& snapshot, int64_t now_ms);

/// Reads a snapshot from a Datum of type jsonb. Raises 22023 if it is invalid or inconsistent,
/// 22003 if a number is out of range, 22008 if a time is.
GeneratorSnapshot read_snapshot(Datum json);

}  // namespace snowdrift
