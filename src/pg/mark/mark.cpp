#include "pg/mark/mark.hpp"

#include <algorithm>

#include "pg/mark/durable_wal.hpp"
#include "pg/mark/mark_table.hpp"
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

using mark_protocol::Writer;
using mark_table::Value;

Session session;

namespace {

slots::Slot* slot = nullptr;

slots::SlotKey slot_key() { return {MyDatabaseId, slots::Kind::mark}; }

/// A relcache callback: the table may have been replaced, or moved to another file.
void invalidate(Oid relation) {
    if (mark_table::is_affected_by(relation)) session.tag = -1;
}

void attach_slot() {
    if (slot != nullptr) return;
    slots::Slot* found;
    while ((found = slots::attach(slot_key(), [](slots::Slot&) {})) == nullptr)
        slots::make_room(slot_key());
    slot = found;
    session.word = &slot->mark.word;
    wal::waiting_calls = &slot->statistics.waiting;
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

void require_structure(const Value& present) {
    if (present.structure > slots::structure_version) report_replaced();
}

// ---- the environment of the protocol

MarkState& state() { return slot->mark; }

/// PostgreSQL as the protocol's environment.
class Environment {
 public:
    using Row = mark_table::Value;

    int& tag() { return session.tag; }
    int64_t now_ms() { return clock::now_ms(); }
    int32_t structure() { return slots::structure_version; }

    void open() {
        table_ = mark_table::open();
        // Every change that a rollback could undo creates a new file. The file and its writer
        // cannot change while the table is locked.
        file_ = file_number(table_);
        writer_ = mark_table::writer_for(table_);
    }
    void close() { relation_close(table_, RowExclusiveLock); }
    Writer writer() { return writer_; }

    mark_protocol::Page<Row> lock_page() {
        page_ = mark_table::lock_page(table_);
        return {page_.value, page_.position};
    }
    uint64_t write(const Row& row) {
        mark_table::write(table_, page_, row);
        return page_.position;
    }
    void unlock_page() { mark_table::unlock_page(page_); }

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
    mark_table::LockedPage page_;
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
    while (session.tag != state().load().tag()) (void)mark_protocol::try_attach(environment);
    return static_cast<int64_t>(state().floor_ms.load());
}

Reading read() {
    const int64_t on_disk_ms = mark_table::read(AccessShareLock).unix_ms;
    const slots::Slot* const known = slots::lookup(slot_key());
    if (known == nullptr) return {on_disk_ms, 0};
    return {std::max(on_disk_ms, known->mark.load().unix_ms()), known->statistics.waiting};
}

int64_t fresh_floor() { return static_cast<int64_t>(state().fresh_ms.load()); }

int64_t advance_fresh_floor(int64_t unix_ms) {
    return slot == nullptr ? 0 : state().advance_fresh_floor(unix_ms);
}

void require_structure() {
    const Value present = mark_table::read();
    require_structure(present);
    if (session.word != nullptr && (present.writer == Writer::outside || !is_current(session.tag)))
        session.tag = -1;
}

void cover_watermark(int64_t unix_ms) {
    Relation table = mark_table::open();
    const Value value = mark_table::update(table, [unix_ms](const Value& present) {
        const bool is_replaced = present.structure > slots::structure_version;
        if (is_replaced || present.watermark_ms >= unix_ms) return present;
        const int64_t watermark_ms =
            std::min(leased_mark(unix_ms, clock::now_ms()), mark_protocol::max_unix_ms);
        return present.with(std::max(present.unix_ms, watermark_ms), present.writer)
            .with_watermark(watermark_ms);
    });
    relation_close(table, RowExclusiveLock);
    require_structure(value);
}

bool advance(int64_t unix_ms) {
    if (unix_ms > mark_protocol::max_unix_ms)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("the server's clock is out of range for the ID mark"),
                        errhint("Correct the server's clock.")));
    Environment environment;
    return mark_protocol::advance(environment, unix_ms);
}

bool reset(int64_t max_lead_ms, int32_t (*last_id)(),
           int64_t (*latest_time)(const mark_table::Origin&)) {
    attach_slot();
    // The lock blocks sessions that advance the mark or attach it. A session that attaches it later
    // reads the mark that is set here.
    Relation table = mark_table::open(ShareRowExclusiveLock);
    const Value present = mark_table::read(table);
    require_structure(present);
    const int64_t latest_ms = clock::now_ms() + max_lead_ms;
    const bool is_needed = present.unix_ms > latest_ms || latest_time(present.origin) > latest_ms;
    if (is_needed) {
        const int32_t last = last_id();
        wal::require_writable();  // before states are lost
        // Change the word first, so that sessions discard IDs that they draw from the old states,
        // and wait for the lock. Read the clock after that: no earlier ID is returned from now on.
        // If an error occurs, they attach the mark that is on disk then.
        state().reset();
        slots::clear_generators();
        session.tag = -1;
        const int64_t unix_ms = clock::now_ms();
        // If only origins or watermarks are ahead, the mark is not set back, because it covers IDs
        // that were issued.
        (void)mark_table::update(table, [&](const Value& now) {
            const int64_t mark_ms =
                now.unix_ms > latest_ms ? unix_ms : std::max(now.unix_ms, unix_ms);
            return now.with({unix_ms, last})
                .with(mark_ms, Writer::outside)
                .with_watermark(std::min(now.watermark_ms, unix_ms));
        });
        (void)attach();  // so that an extension that is created again begins after the mark
    }
    relation_close(table, ShareRowExclusiveLock);
    return is_needed;
}

}  // namespace snowdrift::mark
