// Administration: what there is beside drawing. This file has a snapshot of a generator, and its
// jsonb form. snapshot.cpp takes and restores one, create_generator.cpp creates and drops
// generators, advance.cpp makes all generators continue after a time, reset_clock.cpp sets the mark
// back, hold_row.cpp has the trigger of watched tables, and clock_view.cpp,
// generator_statistics.cpp and watermark_holders.cpp have the functions behind the views.
//
// The rule: these functions move the mark and the states only forward. A rollback does not undo
// that, and need not. The exception is reset_clock(), which refuses unless the mark, an origin or a
// state is so far ahead of the clock that generation stops.
//
// What can go wrong: a snapshot is older than the last ID. restore() raises 55000 if the state
// shows that; a fresh state starts after the floor in any case. The generator is still in use on
// the server that took the snapshot: nothing detects this. A newer library has replaced this one,
// so that its states are no longer in use: mark::require_structure() raises 55000. A row of a
// watched table has an ID below a watermark that was returned: the trigger raises 55000.
//
// In the proof in docs/guarantees.md, advance() and restore() are part of sentence 2, and watches
// of sentence 11. reset_clock() is the exception to sentence 3, and makes the origins of sentence 4
// earlier.
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
