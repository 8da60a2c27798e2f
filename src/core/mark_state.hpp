// The state of the mark in shared memory, and its changes. pg/durability/mark.cpp, which reads and
// writes the disk, decides when they happen. docs/guarantees.md has the proof.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "core/mark_word.hpp"
#include "snowdrift/core/generator.hpp"

namespace snowdrift {

/// What the sessions of a database know of its mark. All of them share it. Times are in Unix
/// milliseconds. A new state is all zero.
///
/// A session changes the word only while it holds a lock on the table whose file the word
/// describes, or will describe. The lock prevents other sessions from dropping the extension, or
/// moving the mark to another file, between the change on disk and the change of the word. A
/// session that publishes its advance after the commit needs no lock: `written_ms` includes the
/// advance, so the mark in another file starts after it.
struct MarkState {
    std::atomic<uint64_t> word;            ///< MarkWord: the mark that sessions may rely on
    std::atomic<uint64_t> file;            ///< the file on disk that the word describes
    std::atomic<uint64_t> floor_ms;        ///< the floor of all states
    std::atomic<uint64_t> advancing_from;  ///< the word from which a session advances ahead of need
    std::atomic<uint64_t> fresh_ms;        ///< the floor of fresh states
    std::atomic<uint64_t> written_ms;      ///< the latest mark that was written, durable or not

    MarkWord load() const noexcept { return MarkWord{word.load(std::memory_order_acquire)}; }

    /// Advances the word to the mark `unix_ms`, which is durable in the file of `tag`. Does nothing
    /// if the word has another tag, or a later mark.
    void publish(int64_t unix_ms, uint16_t tag) noexcept {
        MarkWord present = load();
        const MarkWord later{unix_ms, tag};
        while (present.tag() == tag && present.unix_ms() < unix_ms &&
               !word.compare_exchange_weak(present.bits, later.bits)) {
        }
    }

    /// Records that a session is about to write the mark `unix_ms` on the table's page.
    void record_write(int64_t unix_ms) noexcept {
        (void)core::fetch_max(written_ms, static_cast<uint64_t>(unix_ms));
    }

    /// The latest mark in the word or on the page. Fresh states, and the mark in another file,
    /// start after it, because sessions may have issued IDs up to it.
    int64_t latest_written() const noexcept {
        return std::max(load().unix_ms(), static_cast<int64_t>(written_ms.load()));
    }

    /// Makes the word describe `new_file`, whose mark `on_disk_ms` is durable, with the next tag.
    /// Returns false if the word has a later mark, because another session has advanced it since
    /// the caller read the file. Precondition: the caller holds the lock of allocations.
    bool bind(uint64_t new_file, int64_t on_disk_ms) noexcept {
        MarkWord present = load();
        do {
            if (present.unix_ms() > on_disk_ms) return false;
        } while (!word.compare_exchange_weak(present.bits, present.next(on_disk_ms).bits));
        file = new_file;
        floor_ms = static_cast<uint64_t>(on_disk_ms);
        fresh_ms = static_cast<uint64_t>(on_disk_ms);
        return true;
    }

    /// Makes all further fresh states start after the current mark. Returns their floor.
    int64_t advance_fresh_floor() noexcept {
        const auto latest = static_cast<uint64_t>(latest_written());
        return static_cast<int64_t>(std::max(core::fetch_max(fresh_ms, latest), latest));
    }

    /// Returns true to only one caller for each value of the word, which callers have read as
    /// `present`: that session advances the mark ahead of need.
    bool try_become_advancer(MarkWord present) noexcept {
        uint64_t from = advancing_from;
        return from != present.bits && advancing_from.compare_exchange_strong(from, present.bits);
    }

    /// Forgets the mark, which was set back on disk. Sessions must attach it again.
    void reset() noexcept {
        word = load().next(0).bits;
        written_ms = 0;
    }
};

/// Retires a mark of any structure: changes the tag of its word, so that no session relies on the
/// word any more. Returns the latest mark in the word or on the page, in Unix milliseconds: a
/// session that has written `written_ms`, and whose commit will make it durable, may have issued
/// IDs up to it.
inline int64_t retire(std::atomic<uint64_t>& word,
                      const std::atomic<uint64_t>& written_ms) noexcept {
    MarkWord present{word};
    while (!word.compare_exchange_weak(present.bits, present.next(present.unix_ms()).bits)) {
    }
    return std::max(present.unix_ms(), static_cast<int64_t>(written_ms.load()));
}

}  // namespace snowdrift
