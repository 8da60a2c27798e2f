// The state of the model of the watermark, and what can happen in it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace snowdrift::watermark::model {

using Ms = int32_t;
inline constexpr Ms never = INT32_MAX;

/// Each breaks one rule of the protocol.
enum class Mutation : uint8_t {
    none,
    publish_after_draw,    // the hold is published after the draw
    unfenced_hold,         // the writer draws, and compares, before its hold is visible
    unfenced_begin,        // the reader looks for holds before its begin_unit() is visible
    unfenced_record,       // the reader looks again before the watermark that it returns is visible
    scan_before_begin,     // the reader calls begin_unit() after it has looked for holds
    no_history,            // the hold of an ended transaction ends with the process's next one
    clear_before_commit,   // the hold ends before the transaction does for new snapshots
    drop_prepared,         // PREPARE TRANSACTION ends the hold
    scan_backwards,        // the reader reads the lines in reverse order, and only once
    watch_without_rescan,  // the reader does not look for holds again
    watch_without_check,   // a row is not compared with the watermarks that were returned
    forget_in_crash,       // after a crash, rows are not compared with earlier watermarks
    return_before_durable,  // a watermark is returned before it is durable
    mark_behind_watermark,  // a watermark that is made durable does not advance the mark
    keep_later_hold,        // the hold is not lowered to the time of a row
    hold_without_begin,     // the hold is the clock's time, whatever the generator's time is
};

/// A transaction's hold. `transaction`: 0 while it is in progress in the line's process.
struct Held {
    Ms unix_ms;
    uint8_t generators;
    uint8_t transaction;
    uint8_t unused[2];
};

/// See src/pg/watermark/lines.hpp.
struct Line {
    Held last;
    Held earlier[3];  ///< the latest first

    bool is_open() const { return last.generators != 0 && last.transaction == 0; }

    void replace(const Held& held, bool has_history) {
        if (last.generators != 0 && last.transaction != 0 && has_history) {
            std::move_backward(earlier, std::end(earlier) - 1, std::end(earlier));
            earlier[0] = last;
        }
        last = held;
    }
};

/// A store that other sessions do not see yet.
struct Store {
    enum Kind : uint8_t { none, word, hold, returned };
    Ms value;
    Kind kind;
    uint8_t generator;
    uint8_t unused[2];
};

enum class Phase : uint8_t { idle, hold, take, insert, commit, prepare, read };

/// Between its steps, a session has no other data: see replay.hpp.
struct Session {
    Ms log[12];  ///< results of the steps of this phase
    Store pending;
    Ms row;               ///< the time of the ID that is inserted
    Ms drawn;             ///< the time of the transaction's last ID of the first generator
    uint8_t held;         ///< the generators of the transaction's hold
    uint8_t generator;    ///< from which it draws
    uint8_t transaction;  ///< 0 if there is none
    uint8_t snapshot;     ///< the reader's: bits of the transactions that have ended for it
    uint8_t log_size;
    Phase phase;
    uint8_t unused[2];
};

/// How often each event can still occur.
struct Budget {
    uint8_t transactions;
    uint8_t draws;        ///< from the first generator
    uint8_t other_draws;  ///< from the second
    uint8_t rows;         ///< inserted
    uint8_t reads;
    uint8_t clock_steps;
    uint8_t prepares;
    uint8_t crashes;
};

inline constexpr uint8_t reader = 2, server = 3;  // actors, after the writers
inline constexpr uint8_t prepared_line = 2;       // after those of the writers

struct State {
    uint64_t words[2];  ///< the generators; readers read the first one's watermark
    Line lines[3];
    Session sessions[3];
    Ms lowest[6];  ///< the lowest ID of each transaction that a reader can miss
    Ms clock;
    Ms returned;       ///< see record_returned()
    Ms durable;        ///< see make_durable()
    Ms mark;           ///< on disk; all IDs that were drawn are at or before it
    Ms promised;       ///< the latest watermark that a client has
    uint8_t ended;     ///< bits of transactions, for new snapshots
    uint8_t prepared;  ///< transaction
    uint8_t transactions;
    uint8_t unused[1];
    Budget budget;
};

enum class Choice : uint8_t {
    go,
    make_visible,
    draw_first,
    draw_second,
    insert_earlier,
    insert_own,
    commit,
    roll_back,
    prepare,
    take_snapshot,
    clock_forward,
    clock_back,
    commit_prepared,
    roll_back_prepared,
    crash,
};

inline constexpr const char* choice_names[] = {
    "takes a step",
    "has its store seen",
    "draws from the first generator",
    "draws from the second generator",
    "inserts an ID of the previous millisecond",
    "inserts its own ID",
    "commits",
    "rolls back",
    "prepares its transaction",
    "takes a snapshot and reads the watermark",
    "clock is set forward",
    "clock is set back",
    "commits the prepared transaction",
    "rolls back the prepared transaction",
    "the server crashes and restarts",
};

struct Action {
    uint8_t actor;
    Choice choice;
};

}  // namespace snowdrift::watermark::model
