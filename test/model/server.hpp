// The model's server: its disk, its shared memory, and the state of everything. session.hpp has
// what sessions do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>

#include "protocol/mark_protocol.hpp"
#include "protocol/mark_state.hpp"

namespace snowdrift::model {

/// Milliseconds since `epoch`; 0 if there is no time.
using Ms = int32_t;
inline constexpr int64_t epoch = 1767268800000;  // 2026-01-01T12:00:00Z
constexpr int64_t to_unix(Ms ms) noexcept { return epoch + ms; }
constexpr Ms from_unix(int64_t unix_ms) noexcept {
    return unix_ms < epoch ? 0 : static_cast<Ms>(unix_ms - epoch);
}

// ---- disk

using mark_protocol::Writer;

/// The mark's row, with the members of mark_protocol::MarkRow.
struct Row {
    int64_t unix_ms;
    Writer writer;
    int32_t structure;

    bool operator==(const Row&) const = default;
};

/// The page of a file of the mark's table.
struct Page {
    Row row;
    uint64_t position;  ///< the end of its last record
};

inline constexpr uint8_t files = 3;
inline constexpr uint8_t no_file = UINT8_MAX;

/// A WAL record: a change of a page, or the commit of a transaction that replaced the extension.
struct Record {
    Row row;
    uint8_t file;
    bool is_commit;
    uint8_t unused[6];
};

/// What a crash, or a failover, would leave: the file of the extension, and the pages.
struct Survivor {
    Page pages[files];
    uint8_t file;
    uint8_t unused[7];

    void apply(const Record& record) {
        if (record.is_commit)
            file = record.file;
        else
            pages[record.file] = {{record.row.unix_ms, record.row.writer, 0}, 0};
    }

    Ms mark() const { return from_unix(pages[file].row.unix_ms); }
};

/// The disk of the primary, and what its standby has received. Positions in the WAL count records
/// since `before`.
struct Disk {
    Survivor before;  ///< what survives in any case; the log adds to it
    Page pages[files];
    Record log[8];
    uint8_t size;      ///< records in the log
    uint8_t flushed;   ///< ... that a crash does not lose
    uint8_t received;  ///< ... that a failover does not lose. Unused without a standby
    uint8_t file;      ///< of the extension, as committed
    uint8_t next_file;
    uint8_t unused[3];

    void write(Record record) {
        if (size == std::size(log)) std::abort();
        log[size++] = record;
        if (!record.is_commit) pages[record.file] = {record.row, size};
    }

    void flush(uint8_t position) { flushed = std::max(flushed, position); }

    Survivor survivor(uint8_t position) const {
        Survivor left = before;
        std::for_each_n(log, position, [&](const Record& record) { left.apply(record); });
        return left;
    }

    /// Continues from the first `position` records of the log. No states of any structure are left.
    void recover(uint8_t position) {
        std::fill(log + position, std::end(log), Record{});
        flushed = position;
        received = std::min(received, position);
        file = survivor(position).file;
        std::copy_n(before.pages, files, pages);
        for (size = 0; size < position;) write(log[size]);
        for (Page& page : pages) page.row.structure = 0;
    }
};

// ---- shared memory

inline constexpr uint8_t no_slot = UINT8_MAX;

struct Slot {
    uint8_t allocation;  ///< 0 while it is free
    uint8_t generator;
    uint8_t unused[6];
    uint64_t words[4];  ///< the state
};

/// The slots of one structure.
struct Memory {
    uint64_t mark[6];  ///< MarkState
    Slot slots[2];
};

/// The mark of a structure while a step uses it: the real MarkState.
class SharedMark : public MarkState {
 public:
    explicit SharedMark(Memory& memory)
        : MarkState{memory.mark[0], memory.mark[1], memory.mark[2],
                    memory.mark[3], memory.mark[4], memory.mark[5]},
          words_{memory.mark} {}
    ~SharedMark() {
        const std::atomic<uint64_t>* const fields[] = {&word, &written,  &written_position,
                                                       &file, &floor_ms, &fresh_ms};
        std::transform(std::begin(fields), std::end(fields), words_,
                       [](const auto* field) { return field->load(); });
    }
    SharedMark(const SharedMark&) = delete;
    SharedMark& operator=(const SharedMark&) = delete;

 private:
    uint64_t* words_;
};

inline MarkWord word_of(const Memory& memory) { return MarkWord{memory.mark[0]}; }

// ---- sessions

/// An ID: its time, and what distinguishes IDs of one time.
struct Id {
    Ms ms;
    uint16_t detail;
    uint8_t uncommitted_file;  ///< drawn in the transaction that created this file, or no_file
    uint8_t unused;

    bool is_same(const Id& other) const { return ms == other.ms && detail == other.detail; }
};

/// IDs in any order.
template <size_t capacity>
struct Ids {
    Id ids[capacity];
    uint8_t count;
    uint8_t unused[7];

    const Id* begin() const { return ids; }
    const Id* end() const { return ids + count; }

    bool has(const Id& id) const {
        return std::any_of(begin(), end(), [&](const Id& each) { return each.is_same(id); });
    }

    void add(const Id& id) { ids[count++] = id; }

    template <typename Predicate>
    void remove_if(Predicate predicate) {
        Id* const last = std::remove_if(ids, ids + count, predicate);
        std::fill(last, ids + count, Id{});
        count = static_cast<uint8_t>(last - ids);
    }

    /// Brings the IDs into one order, so that equal sets are equal states.
    void sort() {
        std::sort(ids, ids + count, [](const Id& a, const Id& b) {
            return a.ms != b.ms ? a.ms < b.ms : a.detail < b.detail;
        });
    }
};

/// What a session is doing. Its calls of an environment so far are in Session::log.
enum class Phase : uint8_t {
    idle,
    // drawing an ID: see draw() and SessionSlot
    prepare,
    attach,
    try_attach,
    take,
    cover,
    advance,
    // other statements
    commit,
    reset,
};

/// The kind of a session's transaction.
enum class Statement : uint8_t {
    none,
    draw,
    replace_extension,  ///< DROP EXTENSION and CREATE EXTENSION
    replace_generator,  ///< drop_generator() and create_generator() of the same name
    reset,
};

enum class Lock : uint8_t { none, shared, exclusive };

/// A session. Between its steps, it has no other data: a phase starts again from these, and takes
/// the results of its earlier steps from the log.
struct Session {
    int64_t log[30];            ///< results of the steps of this phase
    uint32_t positions_in_log;  ///< bits: these results are positions in the WAL
    uint8_t log_size;
    Phase phase;
    Statement statement;
    uint8_t library;
    Id id;             ///< that is being drawn, or the block's last one
    int32_t tag;       ///< of the mark; -1 if the session must attach it
    int32_t slot_tag;  ///< when the session attached the slot
    uint8_t slot;
    uint8_t allocation;
    uint8_t generator;      ///< of the slot
    uint8_t own_generator;  ///< created in this transaction; 0 if none
    uint8_t own_file;       ///< created in this transaction, or no_file
    Lock generator_lock;    ///< until the transaction ends
    Lock table_lock;        ///< exclusive: until the transaction ends
    bool has_page_lock;
    bool is_attaching;    ///< holds the table's lock while it attaches the slot
    bool has_block;       ///< of this transaction
    bool is_invalidated;  ///< an invalidation of the mark's table has not been processed
    bool is_waiting;      ///< for a synchronous standby, so the wait can be canceled
    bool is_drawing;      ///< an ID; else, it only attaches the mark
    uint8_t unused[3];
};

// ---- everything

/// How often each event can still occur.
struct Budget {
    uint8_t draws;
    uint8_t crashes;  ///< and failovers
    uint8_t clock_steps;
    uint8_t replacements;  ///< of the extension, of a generator; resets
};

struct State {
    Disk disk;
    Memory memory[2];  ///< one per library
    Session sessions[2];
    Ids<6> left;  ///< the IDs that were returned
    Budget budget;
    Ms clock;
    uint8_t allocations;
    uint8_t generator;   ///< the named one, as committed
    uint8_t generators;  ///< number of those that were created
    uint8_t unused[5];
};

}  // namespace snowdrift::model
