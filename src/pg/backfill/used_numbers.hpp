// Back-fill: Snowflake IDs of past times, for existing rows. This file has the table
// snowdrift_tables.backfill, which records the sequence numbers that each time unit of a generator
// has used. snowflake_at.cpp has the function.
//
// The rule: a generator issues IDs of the present from its origin on (named/origin.hpp), and those
// of past times only before it. The two therefore never overlap, and IDs of past times need neither
// a state nor the time of the mark: a row of the table is inserted in the transaction that uses its
// numbers, and is exactly as durable as the transaction.
//
// What can go wrong: two transactions take the same numbers, or a number is taken again after a
// rollback. A lock on the generator, until the (sub)transaction ends, excludes the first; after a
// rollback, the session discards its numbers and what it remembers of the table.
// docs/guarantees.md, "IDs of past times", has the proof.
#pragma once

#include <cstdint>
#include <optional>

#include "pg/support/postgres.hpp"

namespace snowdrift::backfill {

/// The time units and the sequences that a generator may use for times before its origin. The
/// sequences are those of SnowflakeGenerator::compose().
struct Pool {
    uint32_t generator;  ///< its id; 0 for the default generator
    uint64_t end_unit;   ///< the first unit, counted from the layout's epoch, that it may not use
    uint32_t sequence_min;
    uint32_t sequence_max;
};

struct Place {
    uint64_t unit;
    uint32_t sequence;
};

/// Takes a place of the pool that no other call takes, unless this transaction is rolled back: in
/// the unit `unit`, or in the first unit after it that has one. Returns nothing if there is none.
/// The places that a session takes for the same unit ascend.
///
/// Waits until no other open transaction has taken a place of the generator. Raises 55000 if the
/// table is missing or was altered. Precondition: the transaction can write.
std::optional<Place> take(const Pool& pool, uint64_t unit);

/// Removes the records of a generator, which no other session can use.
void remove(uint32_t generator);

}  // namespace snowdrift::backfill
