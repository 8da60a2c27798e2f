#include "pg/durability/mark.hpp"

#include "core/lease.hpp"
#include "core/mark_state.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/postgres.hpp"

#include <algorithm>

extern "C" {
#include "access/relation.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "storage/lmgr.h"
}

#include "pg/durability/durable_wal.hpp"
#include "pg/durability/mark_table.hpp"
#include "pg/exits/exits.hpp"
#include "pg/memory/make_room.hpp"
#include "pg/memory/slots.hpp"
#include "pg/support/relcache_callback.hpp"

namespace snowdrift::mark {

using mark_table::Value;
using mark_table::Writer;

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
    while ((found = slots::attach(slot_key(), slots::unlimited, [](slots::Slot&) {})) == nullptr)
        slots::make_room(slot_key());
    slot = found;
    session.word = &slot->mark.word;
    add_relcache_callback(invalidate);
}

// ---- the word in shared memory: see MarkState

MarkState& state() { return slot->mark; }

/// Make the word describe `file`, whose mark is `on_disk_ms`. Return false if the word has a later
/// mark, or if it is retired.
bool bind_word(uint64_t file, int64_t on_disk_ms) {
    const slots::AllocationLock lock;
    return !slots::is_retired() && state().bind(file, on_disk_ms);
}

bool is_word_of(uint64_t file) { return state().file == file; }

/// Use the word from now on if it describes `file`. Return whether it does. No session can use a
/// retired word.
bool attach_word(uint64_t file) {
    const slots::AllocationLock lock;
    if (slots::is_retired() || !is_word_of(file)) return false;
    session.tag = state().load().tag();
    return true;
}

/// Whether the word must be bound to the file before a session attaches it.
bool must_bind(uint64_t file, const Value& present) {
    return present.writer == Writer::outside || !is_word_of(file);
}

/// Bind the word to the file if necessary, and record the writer, unless the value on the page is
/// no longer `present`. Return what is on the page. Does not wait until it is durable.
mark_table::Written bind_and_record(Relation table, uint64_t file, const Value& present,
                                    Writer writer) {
    // One session at a time: if another one bound the word again, it would end the blocks of the
    // sessions that have attached it. No other code locks a page of a heap.
    LockPage(table, 0, ExclusiveLock);
    const bool is_bound = mark_table::read(table) == present &&
                          (!must_bind(file, present) || bind_word(file, present.unix_ms));
    const mark_table::Written recorded = mark_table::change(table, [&](const Value& now) {
        return is_bound && now == present ? now.with(now.unix_ms, writer) : now;
    });
    UnlockPage(table, 0, ExclusiveLock);
    return recorded;
}

/// Reconcile the word and the file: the word's mark must be on disk before a session relies on it,
/// and a session must have read the mark on disk before it issues IDs.
///
/// The file and its writer cannot change while the table is locked. An invalidation that arrives
/// during the call only causes another call.
void reconcile() {
    Relation table = mark_table::open();
    const uint64_t file = mark_table::file_of(table);
    const Writer writer = mark_table::writer_for(table);
    // Flush the writer on the page, which another session may have just recorded. Do not wait for
    // standbys: the last record may be an advance that no ID relies on yet.
    const mark_table::Written last =
        mark_table::change(table, [](const Value& now) { return now; });
    XLogFlush(last.position);
    Value present = last.value;
    while (present.writer != writer || !attach_word(file)) {
        slots::require_structure();
        if (must_bind(file, present)) {
            // Keep the writer `outside` until the word is bound, so that the next session can
            // repeat both steps after a failure between them.
            const int64_t known_ms = state().latest_written();
            present = mark_table::update(table, [&](const Value& now) {
                return now.unix_ms >= known_ms ? now : now.with(known_ms, Writer::outside);
            });
        }
        const mark_table::Written recorded = bind_and_record(table, file, present, writer);
        wal::make_durable(recorded.position);
        present = recorded.value;
    }
    relation_close(table, RowExclusiveLock);
}

// ---- advances that a commit makes durable
//
// See "Before the commit" in docs/guarantees.md.

/// The advance that this transaction's commit will make durable. The word does not include it yet,
/// so no other session relies on it.
struct Deferred {
    int tag = -1;  ///< of the word; -1 if no advance is deferred
    int64_t unix_ms = 0;
    XLogRecPtr position = InvalidXLogRecPtr;
    bool is_relied_on = false;  ///< this session has issued IDs past the word, up to `unix_ms`
};
Deferred deferred;

void forget_deferred() {
    if (deferred.is_relied_on) exits::unguard();
    deferred = {};
}

/// End the deferred advance. Publish it to the other sessions if it is durable.
void end_deferred() {
    if (wal::is_durable(deferred.position))
        state().publish(deferred.unix_ms, static_cast<uint16_t>(deferred.tag));
    forget_deferred();
}

/// Called before data leaves the server. Does not wait for standbys: there was none to wait for
/// when this session began to rely on the advance.
void flush_deferred() {
    XLogFlush(deferred.position);
    end_deferred();
}

void on_transaction_event(XactEvent event, void*) {
    if (deferred.tag == -1) return;
    switch (event) {
        case XACT_EVENT_PRE_COMMIT:
            if (wal::commit_makes_durable()) break;
            [[fallthrough]];
        case XACT_EVENT_PRE_PREPARE:
            wal::make_durable(deferred.position);
            [[fallthrough]];
        case XACT_EVENT_COMMIT:
            end_deferred();
            break;
        case XACT_EVENT_ABORT:
            // An error message may contain an ID, so exits stay guarded.
            if (!deferred.is_relied_on) forget_deferred();
            break;
        default:
            break;
    }
}

/// Defer the wait for an advance to the commit.
void defer(const Deferred& advance) {
    static bool is_registered = false;
    if (!is_registered) RegisterXactCallback(on_transaction_event, nullptr);
    is_registered = true;
    deferred = advance;
}

/// Rely on the deferred advance, unless IDs could leave the server before it is durable. Return
/// whether this session relies on it.
bool rely_on_deferred() {
    if (deferred.is_relied_on) return true;
    if (wal::must_wait_for_standbys() || !exits::are_guarded()) return false;
    exits::guard(flush_deferred);
    deferred.is_relied_on = true;
    return true;
}

/// Whether the current statement is a transaction of its own, and does not call other code, which
/// may take long.
bool is_commit_near() { return !IsTransactionBlock() && exits::are_guarded(); }

/// Whether the call waits until the advance is durable, or may leave this wait to the commit.
enum class Wait { now, at_commit };

/// Advance the mark past `unix_ms` by a lease. Return false if this session's tag is outdated.
bool try_advance(int64_t unix_ms, Wait wait) {
    if (unix_ms > mark_table::max_unix_ms)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("the server's clock is out of range for the ID mark"),
                        errhint("Correct the server's clock.")));
    const MarkWord known = state().load();
    if (known.tag() != session.tag) return false;
    const bool is_needed = known.unix_ms() < unix_ms;
    if (deferred.tag == known.tag() && wait == Wait::at_commit) {
        if (!is_needed) return true;
        if (deferred.unix_ms >= unix_ms && rely_on_deferred()) return true;
    }
    if (!is_needed &&
        (!state().try_become_advancer(known) || wal::find_unwritable_file() != nullptr))
        return true;

    Relation table = mark_table::open();
    // Opening the table may have processed invalidations. Under the lock, compare the file with
    // the one that the word describes.
    const Writer writer = mark_table::writer_for(table);
    bool is_advanced = attach_word(mark_table::file_of(table)) && session.tag == known.tag();
    if (is_advanced) {
        const int64_t target =
            std::min(leased_mark(unix_ms, clock::now_ms()), mark_table::max_unix_ms);
        const auto [present, position] = mark_table::change(table, [&](const Value& now) {
            const bool is_enough = now.unix_ms >= (is_needed ? unix_ms : target);
            if (is_enough || now.writer != writer) return now;
            state().record_write(target);
            return now.with(target, writer);
        });
        is_advanced = present.writer == writer;
        if (is_advanced && deferred.tag == -1 && wait == Wait::at_commit) {
            defer({known.tag(), present.unix_ms, position});
            if (is_needed ? rely_on_deferred() : is_commit_near()) {
                relation_close(table, RowExclusiveLock);
                return state().load().tag() == known.tag();
            }
        }
        wal::make_durable(position);
        if (is_advanced) state().publish(present.unix_ms, known.tag());
        forget_deferred();
    }
    relation_close(table, RowExclusiveLock);
    return is_advanced && state().load().tag() == known.tag();
}

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
    while (session.tag != state().load().tag()) reconcile();
    return static_cast<int64_t>(state().floor_ms.load());
}

int64_t fresh_floor() { return static_cast<int64_t>(state().fresh_ms.load()); }

int64_t advance_fresh_floor() {
    // Also called at the end of a transaction, when catalogs cannot be read. lookup() reads none.
    slots::Slot* const known = slot != nullptr ? slot : slots::lookup(slot_key());
    return known == nullptr ? 0 : known->mark.advance_fresh_floor();
}

int64_t read() {
    Relation table = mark_table::open();
    const Value present = mark_table::read(table);
    relation_close(table, RowExclusiveLock);
    return present.unix_ms;
}

void restore(int64_t unix_ms, const mark_table::Origin& origin) {
    Relation table = mark_table::open();
    (void)mark_table::update(table, [&](const Value& now) {
        const Value extended = now.with(origin);
        return now.unix_ms >= unix_ms ? extended : extended.with(unix_ms, Writer::outside);
    });
    relation_close(table, RowExclusiveLock);
}

bool advance(int64_t unix_ms) {
    if (try_advance(unix_ms, Wait::now)) return true;
    session.tag = -1;
    return false;
}

bool advance_for_draw(int64_t unix_ms) {
    if (try_advance(unix_ms, Wait::at_commit)) return true;
    session.tag = -1;
    return false;
}

bool reset(int64_t unix_ms, int64_t max_lead_ms, int32_t (*last_id)(),
           int64_t (*latest_origin)(const mark_table::Origin&)) {
    attach_slot();
    // The lock blocks sessions that advance the mark or attach to it, also those of a library that
    // has retired this one. A session that attaches later reads the mark that is set here.
    Relation table = mark_table::open(ShareRowExclusiveLock);
    slots::require_structure();
    const Value present = mark_table::read(table);
    const int64_t latest_ms = unix_ms + max_lead_ms;
    const bool is_needed = present.unix_ms > latest_ms || latest_origin(present.origin) > latest_ms;
    if (is_needed) {
        const mark_table::Origin origin{unix_ms, last_id()};
        // If only origins are ahead, the mark stays, because it covers IDs that were issued.
        (void)mark_table::update(table, [&](const Value& now) {
            const int64_t mark_ms = now.unix_ms > latest_ms ? unix_ms : now.unix_ms;
            return now.with(origin).with(mark_ms, Writer::outside);
        });
        // Change the word first, so that sessions discard IDs that they draw from the old states.
        state().reset();
        slots::clear_generators();
        session.tag = -1;
    }
    relation_close(table, ShareRowExclusiveLock);
    return is_needed;
}

}  // namespace snowdrift::mark
