// The model's server: its disk, its shared memory, and the state of everything. transaction.hpp and
// draw.hpp have the steps of sessions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>

#include "core/mark_state.hpp"

namespace snowdrift::model {

/// Milliseconds since `epoch`; 0 if there is no time.
using Ms = int32_t;
inline constexpr int64_t epoch = 1767268800000;  // 2026-01-01T12:00:00Z
constexpr int64_t to_unix(Ms ms) noexcept { return epoch + ms; }
constexpr Ms from_unix(int64_t unix_ms) noexcept {
    return unix_ms < epoch ? 0 : static_cast<Ms>(unix_ms - epoch);
}

// ---- disk

/// See mark_table::Writer.
enum class Writer : uint8_t { outside, generators, uncommitted };

/// The page of a file of the mark's table.
struct Page {
    Ms ms;
    Writer writer;
    uint8_t position;  ///< the end of its last record
    uint16_t unused;

    bool has(Ms other_ms, Writer other) const { return ms == other_ms && writer == other; }
};

inline constexpr uint8_t files = 3;
inline constexpr uint8_t no_file = UINT8_MAX;

/// A WAL record: a change of a page, or the commit of a transaction that replaced the extension.
struct Record {
    Ms ms;
    uint8_t file;
    Writer writer;
    bool is_commit;
    uint8_t unused;
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
            pages[record.file] = {record.ms, record.writer, 0, 0};
    }

    Ms mark() const { return pages[file].ms; }
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
        if (!record.is_commit) pages[record.file] = {record.ms, record.writer, size, 0};
    }

    void flush(uint8_t position) { flushed = std::max(flushed, position); }

    Survivor survivor(uint8_t position) const {
        Survivor left = before;
        std::for_each_n(log, position, [&](const Record& record) { left.apply(record); });
        return left;
    }

    /// Continues from the first `position` records of the log.
    void recover(uint8_t position) {
        std::fill(log + position, std::end(log), Record{});
        flushed = position;
        received = std::min(received, position);
        file = survivor(position).file;
        std::copy_n(before.pages, files, pages);
        for (size = 0; size < position;) write(log[size]);
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
    bool has_mark;  ///< whether a session has allocated the mark's slot
    uint8_t unused[7];
};

/// The mark of a structure while a step uses it: the real MarkState.
class SharedMark : public MarkState {
 public:
    explicit SharedMark(Memory& memory)
        : MarkState{memory.mark[0], memory.mark[1], memory.mark[2],
                    memory.mark[3], memory.mark[4], memory.mark[5]},
          words_{memory.mark} {}
    ~SharedMark() {
        const std::atomic<uint64_t>* const fields[] = {&word,           &file,     &floor_ms,
                                                       &advancing_from, &fresh_ms, &written_ms};
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

/// What a session does next. A name is that of the action in traces.
enum class Step : uint8_t {
    idle,
    // drawing an ID
    prepare,
    attach,
    open_to_reconcile,
    reconcile,
    carry_over,
    bind,
    record_writer,
    read_floor,
    find_slot,
    advance_state,
    ask,
    store_state,
    cover,
    begin_advance,
    open_to_advance,
    write_advance,
    publish,
    reread_tag,
    // waiting until WAL is durable
    flush,
    confirm,
    // ending a statement or a transaction
    open_exit,
    commit,
    show,
    end_commit,
    // resetting the mark
    reset_word,
    clear_states,
};

/// The kind of the statement or transaction that a session executes.
enum class Statement : uint8_t {
    none,
    insert,             ///< an autocommit INSERT whose exits are guarded
    select,             ///< the same, but it writes no WAL
    block,              ///< in a transaction block
    foreign,            ///< it calls code that may send data itself
    replace_extension,  ///< DROP EXTENSION and CREATE EXTENSION
    replace_generator,  ///< drop_generator() and create_generator() of the same name
    reset,
    failed,  ///< an error message that the client has not received
};

enum class Lock : uint8_t { none, shared, exclusive };

/// See mark.cpp.
struct Deferred {
    int32_t tag;  ///< -1 if there is none
    Ms ms;
    uint8_t position;
    bool is_relied_on;
    uint8_t unused[6];
};

struct Session {
    uint64_t known;     ///< the word, as it was read
    Deferred deferred;  ///< the advance that the commit will make durable
    Ids<6> pending;     ///< IDs that must not leave yet
    Id id;              ///< that is being drawn, or the block's last one
    Page present;       ///< the page, as it was read
    int32_t tag;        ///< of the mark; -1 if the session must attach it
    int32_t slot_tag;   ///< when the session attached the slot
    Ms known_ms;        ///< a mark, or a floor
    Step step;
    Step next;  ///< once `position` is durable
    Statement statement;
    uint8_t library;
    uint8_t slot;
    uint8_t allocation;
    uint8_t generator;      ///< of the slot
    uint8_t own_generator;  ///< created in this transaction; 0 if none
    uint8_t file;           ///< that was opened
    uint8_t own_file;       ///< created in this transaction, or no_file
    uint8_t position;       ///< in the WAL, to flush
    Lock generator_lock;    ///< until the transaction ends
    Lock table_lock;        ///< exclusive: until the transaction ends
    bool is_attaching;      ///< holds the table's lock while it attaches the slot
    bool has_mark_slot;
    bool has_block;  ///< of this transaction
    bool is_needed;
    bool is_invalidated;  ///< an invalidation of the mark's table has not been processed
    bool is_drawing;
    bool is_committing;  ///< so a canceled wait for a standby is not an error
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
    Ids<6> left;  ///< the IDs that have left the server
    Budget budget;
    Ms clock;
    Ms reset_ms;      ///< the time of a reset that has not ended; 0 if there is none
    uint8_t version;  ///< of the structure: 1 or 2; 0 after a start
    uint8_t allocations;
    uint8_t generator;   ///< the named one, as committed
    uint8_t generators;  ///< number of those that were created
};

}  // namespace snowdrift::model
