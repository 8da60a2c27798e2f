// Drawing an ID from this transaction's block of ULIDs, or of UUIDs of version 7. next_ulid.cpp and
// next_uuidv7.cpp define the SQL functions.
#pragma once

#include <algorithm>

#include "pg/draw/draw.hpp"
#include "pg/mark/mark.hpp"
#include "pg/node/mark_owner.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/random.hpp"
#include "pg/support/settings.hpp"
#include "protocol/generators.hpp"

namespace snowdrift {

/// This session's handle of the database's block generator of one kind, whose state is the member
/// `state` of the slot.
template <typename Format, slots::Kind kind, BlockGenerator<Format> slots::Slot::*state>
class BlockHandle {
 public:
    using Id = Format;

    bool is_prepared() const { return slot_.is_attached(); }

    void prepare() {
        (void)mark::attach();
        Relation table = record::open();
        own_mark(table);
        slot_.attach(table, {MyDatabaseId, kind}, false);
        relation_close(table, RowExclusiveLock);
        watermark::forget(generator());
    }

    watermark::Generators generator() const { return watermark::only(kind, 0); }

    int64_t begin_unit() {
        const int64_t now = clock::now_ms();
        SpinLockAcquire(&slot_->lock);
        const int64_t begin = ((*slot_).*state).begin_unit(now);
        SpinLockRelease(&slot_->lock);
        return begin;
    }

    static int64_t earliest_unix_ms() { return 0; }

    /// A transaction holds all watermarks back at the same time, which is before 1970 if it has
    /// stored a negative number as a Snowflake.
    static int64_t truncate(int64_t unix_ms) { return std::max<int64_t>(unix_ms, 0); }

    /// The tag of the mark when the session last attached.
    int tag() const { return slot_.tag(); }

    Answer<Id> ask(Request& request) {
        const auto random = random_batch.take<typename BlockGenerator<Id>::Random>();
        const int64_t now = clock::now_ms();
        SpinLockAcquire(&slot_->lock);
        const auto answer = ((*slot_).*state).next(now, settings::max_clock_lead, random, request);
        SpinLockRelease(&slot_->lock);
        return answer;
    }

    slots::Slot& slot() const { return *slot_; }
    Label label() const { return {slots::name_of(kind), 0, 1}; }

 private:
    AttachedSlot slot_;
};

template <typename Id, slots::Kind kind, BlockGenerator<Id> slots::Slot::*state>
inline BlockHandle<Id, kind, state> block_handle;

/// Whether the tag is still that of the mark. An invalidation may mean that the creation of another
/// file of the mark was rolled back, while the word still describes that file.
inline bool is_mark_current(int tag) {
    if (unlikely(mark::attached.tag != tag)) (void)mark::attach();
    return mark::is_current(tag);
}

/// The next ID of this transaction. A rollback to a savepoint does not rewind the block, so IDs are
/// never repeated. A new mark ends the block: after reset_clock(), the block's time may be in the
/// future. Inlined, because an ID of a block costs less than a call.
template <typename Id, slots::Kind kind, BlockGenerator<Id> slots::Slot::*state>
pg_attribute_always_inline Id next_in_block() {
    auto& generator = block_handle<Id, kind, state>;
    static IdBlock<Id> block;
    static LocalTransactionId owner = InvalidLocalTransactionId;
    static int tag = -1;  // of the mark under which the block was taken
    if (unlikely(owner != current_transaction() || block.empty() || !is_mark_current(tag))) {
        owner = InvalidLocalTransactionId;  // an error may occur after the session has attached
        block = IdBlock<Id>{draw(generator)};
        owner = current_transaction();
        tag = generator.tag();
    }
    Assert(!block.empty() && tag >= 0);
    return block.take();
}

/// The watermark for the statement that calls the SQL function.
template <typename Id, slots::Kind kind, BlockGenerator<Id> slots::Slot::*state>
Id watermark_of_blocks() {
    return Id::boundary(time_of(watermark::read_for_statement(block_handle<Id, kind, state>)));
}

}  // namespace snowdrift
