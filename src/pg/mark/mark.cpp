#include "pg/mark/mark.hpp"

#include <algorithm>

#include "pg/record/durable_wal.hpp"
#include "pg/slots/slots.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/relcache_callback.hpp"
#include "protocol/mark_protocol.hpp"

extern "C" {
#include "access/relation.h"
#include "access/xlog.h"
}

namespace snowdrift::mark {

using mark_protocol::max_unix_ms;
using record::Row;
using record::Writer;

Attached attached;

namespace {

slots::Slot* attached_slot = nullptr;

slots::SlotKey slot_key() { return {MyDatabaseId, slots::Kind::mark}; }

/// A relcache callback: the table may have been replaced, or moved to another file.
void invalidate(Oid relation) {
    if (record::is_affected_by(relation)) attached.tag = -1;
}

void attach_slot() {
    if (attached_slot != nullptr) return;
    slots::Slot* found;
    while ((found = slots::attach(slot_key(), [](slots::Slot&) {})) == nullptr)
        slots::make_room(slot_key());
    attached_slot = found;
    attached.word = &found->mark.word;
    wal::waiting_calls = &found->waiting;
    add_relcache_callback(invalidate);
}

[[noreturn]] void report_replaced() {
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("library of extension \"snowdrift\" was replaced"),
             errdetail("A newer version of the library has been in use since the server started, "
                       "and this session uses an older one."),
             errhint("Reconnect. If the older version was installed again, restart the server.")));
}

void check_structure(const Row& row) {
    if (row.structure > slots::structure_version) report_replaced();
}

// ---- the environment of the protocol

MarkState& state() { return slot().mark; }

/// PostgreSQL as the protocol's environment.
class Environment {
 public:
    using Row = record::Row;

    int& tag() { return attached.tag; }
    int64_t now_ms() { return clock::now_ms(); }
    int32_t structure() { return slots::structure_version; }

    void open() {
        table_ = record::open();
        // Every change that a rollback could undo creates a new file. The file and its writer
        // cannot change while the table is locked.
        file_ = file_number(table_);
        writer_ = record::writer_for(table_);
    }
    void close() { relation_close(table_, RowExclusiveLock); }
    Writer writer() { return writer_; }

    mark_protocol::Page<Row> lock_page() {
        page_ = record::lock_page(table_);
        return {page_.row, page_.position};
    }
    uint64_t write(const Row& row) {
        record::write(table_, page_, row);
        return page_.position;
    }
    void unlock_page() { record::unlock_page(page_); }

    void flush(uint64_t position) { XLogFlush(position); }
    void make_durable(uint64_t position) { wal::make_durable(position); }
    bool is_durable(uint64_t position) { return wal::is_durable(position); }
    void flush_later(uint64_t position) { XLogSetAsyncXactLSN(position); }
    bool is_writable() { return wal::find_unwritable_file() == nullptr; }

    MarkWord load() { return state().load(); }
    MarkWord load_written() { return state().load_written(); }
    uint64_t written_position() { return state().written_position; }
    void record_written(MarkWord mark, uint64_t position) {
        state().record_written(mark, position);
    }
    void publish(MarkWord mark) { state().publish(mark); }
    bool is_bound() { return state().file == file_; }
    bool bind(int64_t unix_ms) { return state().bind(file_, unix_ms); }

    [[noreturn]] void report_replaced() { mark::report_replaced(); }

 private:
    Relation table_;
    uint64_t file_;
    Writer writer_;
    record::LockedPage page_;
};

void require_primary() {
    if (RecoveryInProgress())
        ereport(ERROR, (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
                        errmsg("cannot generate IDs during recovery"),
                        errhint("Generate them on the primary server.")));
}

}  // namespace

int64_t attach() {
    require_primary();
    attach_slot();
    Environment environment;
    while (attached.tag != state().load().tag()) (void)mark_protocol::try_attach(environment);
    return static_cast<int64_t>(state().floor_ms.load());
}

slots::Slot& slot() {
    Assert(attached_slot != nullptr);
    return *attached_slot;
}

Reading read() {
    const int64_t on_disk_ms = record::read(AccessShareLock).unix_ms;
    const slots::Slot* const known = slots::lookup(slot_key());
    if (known == nullptr) return {on_disk_ms, 0};
    return {std::max(on_disk_ms, known->mark.load().unix_ms()), known->waiting};
}

int64_t fresh_floor() { return static_cast<int64_t>(state().fresh_ms.load()); }

int64_t advance_fresh_floor(int64_t unix_ms) {
    return attached_slot == nullptr ? 0 : state().advance_fresh_floor(unix_ms);
}

void require_structure() {
    const Row row = record::read();
    check_structure(row);
    if (attached.word != nullptr && (row.writer == Writer::outside || !is_current(attached.tag)))
        attached.tag = -1;
}

void cover_watermark(int64_t unix_ms) {
    Relation table = record::open();
    const Row covering = record::update(table, [unix_ms](Row& row) {
        const bool is_replaced = row.structure > slots::structure_version;
        if (is_replaced || row.watermark_ms >= unix_ms) return;
        row.watermark_ms = std::min(leased_mark(unix_ms, clock::now_ms()), max_unix_ms);
        row.unix_ms = std::max(row.unix_ms, row.watermark_ms);
    });
    relation_close(table, RowExclusiveLock);
    check_structure(covering);
    Assert(covering.unix_ms >= unix_ms && covering.watermark_ms >= unix_ms);
}

bool cover(int64_t unix_ms) {
    if (unix_ms > max_unix_ms)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("the server's clock is out of range for the ID mark"),
                        errhint("Correct the server's clock.")));
    Environment environment;
    const bool is_advanced = mark_protocol::cover(environment, unix_ms);
    Assert(!is_advanced || state().load().tag() != attached.tag ||
           state().load().unix_ms() >= unix_ms);
    return is_advanced;
}

void discard() {
    attach_slot();
    state().reset();
    slots::clear_generators();
    attached.tag = -1;
}

}  // namespace snowdrift::mark
