// Drawing an ID from this transaction's block of ULIDs, or of UUIDs of version 7. next_ulid.cpp and
// next_uuidv7.cpp define the SQL functions.
#pragma once

#include "pg/draw/draw.hpp"
#include "pg/mark/mark.hpp"
#include "pg/node/mark_owner.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/random.hpp"
#include "pg/support/settings.hpp"
#include "protocol/generators.hpp"

namespace snowdrift {

/// This session's view of the database's block generator of one kind, whose state is that member of
/// the slot.
template <typename Format, slots::Kind kind, BlockGenerator<Format> slots::Slot::*state>
class BlockSession {
 public:
    using Id = Format;

    bool is_prepared() const { return slot_.is_attached(); }

    void prepare() {
        (void)mark::attach();
        Relation mark = mark_table::open();
        own_mark(mark);
        relation_close(mark, RowExclusiveLock);
        slot_.attach({MyDatabaseId, kind}, false);
    }

    /// The tag of the mark when the session attached, for mark::is_current().
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
    overflow::Label label() const { return {slots::name_of(kind), 0, 1}; }

 private:
    SessionSlot slot_;
};

/// The next ID of this transaction. A rollback to a savepoint does not rewind the block, so IDs are
/// never repeated. A new mark ends the block: after reset_clock(), the block's time may be in the
/// future.
template <typename Id, slots::Kind kind, BlockGenerator<Id> slots::Slot::*state>
Id next_in_block() {
    static BlockSession<Id, kind, state> generator;
    static Block<Id> block;
    static LocalTransactionId owner = InvalidLocalTransactionId;
    if (unlikely(owner != current_transaction() || block.empty() ||
                 !mark::is_current(generator.tag()))) {
        block = Block<Id>{draw(generator)};
        owner = current_transaction();
    }
    return block.take();
}

}  // namespace snowdrift
