// The protocol of the mark: how sessions attach it and advance it. mark_state.hpp has what they
// share in memory, lease.hpp how far the mark runs ahead. watermark.hpp is the other protocol of
// this folder. Both are templates over their environment. src/pg supplies PostgreSQL. test/model
// supplies a machine in which each call is a step, and explores the interleavings. Nothing here
// reads a clock or waits, except through the environment.
//
// The rule, sentence 1 of the proof in docs/guarantees.md: sessions rely only on the word in shared
// memory, and the word contains only durable marks. A mark that is written ahead of need is
// published by a later call, when it is durable.
//
// What can go wrong: the table is dropped and created again, or the mark is set back, while a
// session draws. The word then has another tag, so cover() returns false, and the session discards
// its ID. A session fails between two steps, for example because the disk is full: until the word
// describes the file, the row's writer stays `outside`, and another session repeats the steps. Two
// sessions write at the same time: the page's lock orders them, and the row's mark only advances. A
// library with a later structure of the states is in use: open_page() raises an error.
//
// Sentence 2 relies on bind(), which sets the floor from which states start, and "While the library
// is replaced", on the same page, on the structure in the row.
//
// An environment is one session's view of the mark. Its calls may raise errors, which release all
// locks. It declares
//
//     using Row = ...;                  // the row on disk, with the members of MarkRow
//     int& tag();                       // of the word that this session has attached; -1 if none
//     int64_t now_ms();                 // the wall clock
//     int32_t structure();              // of the states that this session uses
//
//     // the table
//     void open();                      // locks the table; an invalidation may set tag() to -1
//     void close();
//     Writer writer();                  // that this session records in the opened file
//     Page<Row> lock_page();
//     uint64_t write(const Row&);       // while the page is locked; returns the position
//     void unlock_page();
//
//     // WAL up to a position
//     void flush(uint64_t);             // waits until it is flushed on this server
//     void make_durable(uint64_t);      // ... and confirmed by synchronous standbys
//     bool is_durable(uint64_t);
//     void flush_later(uint64_t);       // does not wait
//     bool is_writable();
//
//     // MarkState
//     MarkWord load();
//     MarkWord load_written();
//     uint64_t written_position();
//     void record_written(MarkWord, uint64_t);
//     void publish(MarkWord);
//     bool is_bound();                  // whether the word describes the opened file
//     bool bind(int64_t);               // binds the word to the opened file
//
//     void report_replaced();           // raises an error: a later structure is in use
#pragma once

#include <algorithm>
#include <cassert>
#include <concepts>
#include <cstdint>

#include "protocol/lease.hpp"
#include "protocol/mark_state.hpp"

namespace snowdrift::mark_protocol {

/// The latest time that the mark can have, in Unix milliseconds: the year 6429.
inline constexpr int64_t max_unix_ms = INT64_MAX >> MarkWord::tag_bits;

/// The writer of the mark on disk.
enum class Writer : int32_t {
    outside = 0,      ///< the install script, a restored dump, reset_clock()
    generators = 1,   ///< a generator that advanced the mark
    uncommitted = 2,  ///< the same, in the transaction that created the file
};

template <typename T>
concept MarkRow = std::equality_comparable<T> && requires(T row) {
    { row.unix_ms } -> std::convertible_to<int64_t>;
    { row.writer } -> std::convertible_to<Writer>;
    // The latest structure of states that rely on the mark; 0 if they were lost in a restart.
    { row.structure } -> std::convertible_to<int32_t>;
};

/// The row on a page, and the position of its last change.
template <MarkRow Row>
struct Page {
    Row row;
    uint64_t position;
};

/// Opens the table and locks the row's page, unless a later structure is in use.
template <typename Environment>
auto open_page(Environment& env) {
    env.open();
    const auto page = env.lock_page();
    if (page.row.structure > env.structure()) {
        env.unlock_page();
        env.report_replaced();
    }
    return page;
}

/// Takes a step towards attaching the word to the mark on disk. Returns whether the session has
/// attached it. The word must describe the file, and its mark must be on disk, before a session
/// relies on it. The row's writer is `outside` until then.
template <typename Environment>
bool try_attach(Environment& env) {
    auto page = open_page(env);
    const auto found = page.row;
    const bool is_bound =
        found.structure == env.structure() && found.writer != Writer::outside && env.is_bound();
    if (is_bound) {
        page.row.writer = env.writer();
    } else {
        page.row.unix_ms = std::max(found.unix_ms, env.load().unix_ms());
        page.row.writer = Writer::outside;
        page.row.structure = env.structure();
        if (page.row == found && env.is_durable(page.position) && env.bind(found.unix_ms))
            page.row.writer = env.writer();
    }
    const bool is_attached = page.row == found && is_bound;
    assert(page.row.unix_ms >= found.unix_ms);
    if (is_attached) env.tag() = env.load().tag();
    if (page.row != found) page.position = env.write(page.row);
    env.unlock_page();
    // Another session may have just recorded the writer. The wait for standbys is left to the
    // session that needs the mark.
    if (is_attached)
        env.flush(page.position);
    else
        env.make_durable(page.position);
    env.close();
    return is_attached;
}

/// Ensures that the mark is not before `unix_ms`, and that it is durable. If little of the lease is
/// left, writes a later mark, which a later call publishes once it is durable. Returns false if the
/// session must attach the word again before it draws another ID. Precondition: `unix_ms` is not
/// later than max_unix_ms.
template <typename Environment>
bool cover(Environment& env, int64_t unix_ms) {
    assert(unix_ms <= max_unix_ms);
    const auto detach = [&env] {
        env.tag() = -1;
        return false;
    };
    const MarkWord written = env.load_written();
    const auto is_written_after = [written](MarkWord word) {
        return written.tag() == word.tag() && written.unix_ms() > word.unix_ms();
    };
    if (is_written_after(env.load()) && env.is_durable(env.written_position()))
        env.publish(written);
    const MarkWord known = env.load();
    if (known.tag() != env.tag()) return detach();
    const bool is_needed = known.unix_ms() < unix_ms;
    if (!is_needed && (is_written_after(known) || !is_low(known.unix_ms(), unix_ms, env.now_ms()) ||
                       !env.is_writable()))
        return true;

    auto page = open_page(env);
    const bool is_current =
        page.row.writer == env.writer() && env.is_bound() && env.load().tag() == known.tag();
    if (is_current) {
        env.tag() = known.tag();  // although opening the table may have set it
        const int64_t now_ms = env.now_ms();
        if (is_low(page.row.unix_ms, unix_ms, now_ms)) {
            page.row.unix_ms = std::max<int64_t>(
                page.row.unix_ms, std::min(leased_mark(unix_ms, now_ms), max_unix_ms));
            page.position = env.write(page.row);
        }
        env.record_written({page.row.unix_ms, known.tag()}, page.position);
    }
    env.unlock_page();
    if (is_current && is_needed) {
        env.make_durable(page.position);
        env.publish({page.row.unix_ms, known.tag()});
    } else if (is_current) {
        env.flush_later(page.position);
    }
    env.close();
    return is_current && env.load().tag() == known.tag() ? true : detach();
}

}  // namespace snowdrift::mark_protocol
