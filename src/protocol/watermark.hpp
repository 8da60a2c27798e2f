// The protocol of watermarks. The watermark of a generator is the time before which it issues no
// more IDs, and before which no transaction in progress has drawn one. The SQL functions return the
// smallest ID of that time.
//
// The rule, sentences 7 and 8 of the proof in docs/guarantees.md: before its first draw from a
// generator, a transaction publishes a time that none of its IDs is before. A reader takes the
// generator's time first, and then looks for holds, so a transaction that it does not find draws
// later IDs.
//
// What can go wrong: the ID of a row was not drawn in the row's transaction, and is below a
// watermark that was returned. A watch publishes before it looks for watermarks, and a reader
// records its watermark before it looks for holds again, so one of them finds the other (sentence
// 11). A restart loses the latest watermark in shared memory, so each watermark is durable before
// it is returned (sentence 12). A reader's snapshot is older than the end of a transaction: History
// keeps the hold (sentence 9). Fences keep these orders on all processors.
//
// The functions are templates over their environment: src/pg/watermark supplies PostgreSQL,
// test/model a machine in which each call is a step. It declares
//
//     int64_t begin_unit();            // makes the generator issue no more IDs of time units
//                                      // before the clock's; returns the beginning of the first
//                                      // unit that its further IDs can have
//     int64_t begin_read();            // the same; but the clock's time if the generator is too
//                                      // far ahead of the clock to issue IDs: otherwise, watches
//                                      // would refuse rows until the clock has caught up
//     void publish(int64_t);           // adds the generator to the transaction's hold, and lowers
//                                      // the time of the hold to that time
//     int64_t lowest_hold();           // the lowest time of a hold on the generator by a
//                                      // transaction that the reader's snapshot does not see as
//                                      // ended
//     void record_returned(int64_t);   // raises the latest watermark that was returned
//     int64_t returned();
//     void make_durable(int64_t);      // advances the latest watermark on disk, and the mark, to
//                                      // at least that time, and waits until they are durable
//     void fence();                    // orders stores before it and loads after it
//
// All times are in Unix milliseconds.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>

#include "snowdrift/core/generator.hpp"

namespace snowdrift::watermark {

/// Makes the transaction hold the generator's watermark. Call it before the transaction's first
/// draw from the generator, and again when the generator may have been set back.
template <typename Environment>
void hold(Environment& env) {
    env.publish(env.begin_unit());
    env.fence();
}

/// Makes the transaction hold the generator's watermark for a row whose ID was not drawn in this
/// transaction; `unix_ms` is the ID's time. Returns false if a later watermark may have been
/// returned, so that a reader would miss the row: also if the transaction already has a hold, which
/// may have been too late for a reader.
template <typename Environment>
bool hold_row(Environment& env, int64_t unix_ms) {
    env.publish(std::min(unix_ms, env.begin_unit()));  // the transaction may also draw
    env.fence();
    return unix_ms >= env.returned();
}

/// The generator's watermark.
template <typename Environment>
int64_t read(Environment& env) {
    const int64_t begin = env.begin_read();
    env.fence();
    const int64_t found = std::min(begin, env.lowest_hold());
    env.record_returned(found);
    env.fence();
    // hold_row() has seen what was recorded, or its hold is found now.
    const int64_t watermark = std::min(found, env.lowest_hold());
    assert(watermark <= begin);
    env.make_durable(watermark);  // readers may store positions below it
    return watermark;
}

/// The latest watermark of a generator that was returned, in shared memory: its time in Unix
/// milliseconds; -1 if none was returned, or if a row with a number that is not an ID held it back
/// to before 1970. A new one is all zero.
class Returned {
 public:
    int64_t load() const noexcept { return static_cast<int64_t>(after_.load()) - 1; }

    /// Raises it to at least `unix_ms`.
    void raise(int64_t unix_ms) noexcept {
        assert(unix_ms >= -1);
        (void)core::fetch_max(after_, static_cast<uint64_t>(unix_ms + 1));
    }

    void clear() noexcept { after_ = 0; }

 private:
    std::atomic<uint64_t> after_;  // the time plus 1
};

/// A set of generators, one bit each. Several named generators may share a bit: then transactions
/// that draw from one of them hold back the watermarks of all of them.
using Generators = uint64_t;

/// What a transaction holds back.
struct Hold {
    int64_t unix_ms;        ///< none of its IDs is before this time
    Generators generators;  ///< from which it has drawn
};

/// A transaction that has ended, or several successive ones of one process.
struct Ended {
    uint64_t transaction;  ///< the full transaction ID of the last one
    uint32_t database;     ///< 0: several
    Hold hold;             ///< of all of them
};

/// The last transactions of a process that have ended. A snapshot that is older than their ends
/// takes them to be in progress, so their holds still count for it.
///
/// This is an exponential histogram: the last one or two transactions have an entry each, and each
/// level has one or two entries for twice as many transactions as the level before. If the first
/// transaction that counts is the n-th last one, at most n earlier ones count, too, for n up to 8
/// million.
class History {
 public:
    void add(Ended added) noexcept {
        for (Level& level : levels_) {
            if (level.count < level.entries.size()) {
                level.entries[level.count++] = added;
                return;
            }
            const Ended both = merge(level.entries[0], level.entries[1]);
            if (&level == &levels_.back()) {
                level.entries = {both, added};
                return;
            }
            level.entries[0] = added;
            level.count = 1;
            added = both;
        }
    }

    /// Calls visit(Ended) for the entries, the latest first, until it returns false.
    template <typename Visit>
    void visit(Visit visit) const {
        for (const Level& level : levels_)
            for (size_t i = level.count; i-- > 0;)
                if (!visit(level.entries[i])) return;
    }

 private:
    struct Level {
        size_t count;
        std::array<Ended, 2> entries;  // the later one last
    };

    /// The IDs of prepared transactions need not ascend, but those that count for a snapshot are
    /// the last ones of the process.
    static Ended merge(const Ended& earlier, const Ended& later) noexcept {
        return {later.transaction,
                earlier.database == later.database ? later.database : 0,
                {std::min(earlier.hold.unix_ms, later.hold.unix_ms),
                 earlier.hold.generators | later.hold.generators}};
    }

    std::array<Level, 24> levels_;  // later transactions first
};

}  // namespace snowdrift::watermark
