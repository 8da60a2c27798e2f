// The state of the mark in shared memory, and its changes. mark_protocol.hpp decides when they
// happen.
#pragma once

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstdint>

#include "snowdrift/core/generator.hpp"

namespace snowdrift {

/// The word of a mark: a Unix millisecond, and a tag. The tag changes when the mark is reset, and
/// when its file is replaced, as by DROP EXTENSION and CREATE EXTENSION.
struct MarkWord {
    static constexpr int tag_bits = 16;

    uint64_t bits;

    constexpr MarkWord(int64_t unix_ms, uint16_t tag) noexcept
        : bits{static_cast<uint64_t>(unix_ms) << tag_bits | tag} {}
    constexpr explicit MarkWord(uint64_t stored) noexcept : bits{stored} {}

    constexpr int64_t unix_ms() const noexcept { return static_cast<int64_t>(bits >> tag_bits); }
    constexpr uint16_t tag() const noexcept { return static_cast<uint16_t>(bits); }

    /// The word with the mark `unix_ms` and the next tag.
    constexpr MarkWord next(int64_t unix_ms) const noexcept {
        return {unix_ms, static_cast<uint16_t>(tag() + 1)};
    }
};

/// What the sessions of a database know of its mark. All of them share it. Times are in Unix
/// milliseconds, and positions are those of the WAL. A new state is all zero.
struct MarkState {
    std::atomic<uint64_t> word;              ///< MarkWord: the mark that sessions may rely on
    std::atomic<uint64_t> written;           ///< MarkWord: the mark that was last written
    std::atomic<uint64_t> written_position;  ///< once it is durable, so is `written`
    std::atomic<uint64_t> file;              ///< the file on disk that the word describes
    std::atomic<uint64_t> floor_ms;          ///< the floor of all states
    std::atomic<uint64_t> fresh_ms;          ///< the floor of fresh states

    MarkWord load() const noexcept { return MarkWord{word.load(std::memory_order_acquire)}; }

    /// Load it before `written_position`, which is then not before it.
    MarkWord load_written() const noexcept {
        return MarkWord{written.load(std::memory_order_acquire)};
    }

    /// Records a mark, and a position at which it is durable. Precondition: the caller holds the
    /// lock of the mark's page.
    void record_written(MarkWord mark, uint64_t position) noexcept {
        assert(mark.tag() == load().tag());
        written_position = position;
        written.store(mark.bits, std::memory_order_release);
    }

    /// Advances the word to `mark`, which is durable. Does nothing if the word has another tag, or
    /// a later mark.
    void publish(MarkWord mark) noexcept {
        MarkWord present = load();
        while (present.tag() == mark.tag() && present.unix_ms() < mark.unix_ms() &&
               !word.compare_exchange_weak(present.bits, mark.bits)) {
        }
    }

    /// Makes the word describe `new_file`, whose mark `on_disk_ms` is durable, with the next tag.
    /// Returns false if the word has a later mark, because another session has advanced it since
    /// the caller read the file. Precondition: the caller holds the lock of the mark's page.
    bool bind(uint64_t new_file, int64_t on_disk_ms) noexcept {
        assert(on_disk_ms >= 0);
        MarkWord present = load();
        do {
            if (present.unix_ms() > on_disk_ms) return false;
        } while (!word.compare_exchange_weak(present.bits, present.next(on_disk_ms).bits));
        file = new_file;
        floor_ms = static_cast<uint64_t>(on_disk_ms);
        fresh_ms = static_cast<uint64_t>(on_disk_ms);
        return true;
    }

    /// Makes all further fresh states start after `unix_ms`, or after the mark, past which no ID
    /// was returned, if that is earlier. Returns their floor.
    int64_t advance_fresh_floor(int64_t unix_ms) noexcept {
        const auto floor = static_cast<uint64_t>(std::min(unix_ms, load().unix_ms()));
        return static_cast<int64_t>(std::max(core::fetch_max(fresh_ms, floor), floor));
    }

    /// Forgets the mark, which was set back on disk. Sessions must attach it again. Until then, a
    /// rollback advances states past the floor of fresh states.
    void reset() noexcept {
        word = load().next(0).bits;
        fresh_ms = 0;
        file = 0;  // so that sessions bind the word again, and begin after the mark on disk
    }
};

}  // namespace snowdrift
