// What this session's transaction holds back. Together with lines.hpp (the holds of all
// transactions in shared memory), reader.hpp (reading a watermark) and statement_value.hpp (one
// value for each statement), it is PostgreSQL's part of protocol/watermark.hpp.
//
// A watermark says: every transaction that has drawn, or will draw, an ID of the generator below it
// has ended for the snapshot of the statement. The rule, sentences 7 and 8 of the proof in
// docs/guarantees.md: a transaction publishes a lower bound of the times of its IDs before it
// draws, and a reader takes the generator's time before it looks for bounds. A transaction in
// progress that the reader does not find draws only IDs at or after that time.
//
// What can go wrong: a transaction ends between the reader's snapshot and its look, so its bound is
// gone although the snapshot does not see its rows. Hence the line of a process keeps the bounds of
// transactions that have committed, for snapshots that are older (sentence 9). A prepared
// transaction leaves its process: its bound moves to a line of its own. What cannot be known, as
// after a restart with prepared transactions, raises an error instead of a watermark.
#pragma once

#include <cstdint>

#include "pg/slots/slot.hpp"
#include "protocol/watermark.hpp"

namespace snowdrift::watermark {

/// The generators whose watermarks the transaction holds, and whose states it has not attached
/// again since.
extern Generators held;

/// The set with the generator of this kind and this id, which is 0 for a default generator. Sno
/// values have no watermark, because they do not ascend when the clock is set back: the set is
/// empty.
constexpr Generators only(slots::Kind kind, uint32_t id) {
    switch (kind) {
        case slots::Kind::ulid:
            return 1;
        case slots::Kind::uuidv7:
            return 2;
        case slots::Kind::snowflake:
            return id == 0 ? 4 : Generators{8} << (id - 1) % 61;
        case slots::Kind::sno:
        case slots::Kind::mark:
            return 0;
    }
    pg_unreachable();
}

static_assert(only(slots::Kind::snowflake, 0) == 1 << 2);
static_assert(only(slots::Kind::snowflake, 1) == 1 << 3);
static_assert(only(slots::Kind::snowflake, 61) == Generators{1} << 63);
static_assert(only(slots::Kind::snowflake, 62) == only(slots::Kind::snowflake, 1));

/// Whether the transaction holds the watermark of the generator, or does not need to.
inline bool is_held(Generators generator) { return (held & generator) == generator; }

/// Requires hold() before the next draw from the generator: its state may have been set back.
inline void forget(Generators generator) { held &= ~generator; }

/// Adds the generator to the transaction's hold, and lowers its time to `unix_ms`. The caller then
/// issues a memory barrier. Raises 53200 if the server has no free shared memory, and 25000 in a
/// parallel worker.
void publish(Generators generator, int64_t unix_ms);

}  // namespace snowdrift::watermark
