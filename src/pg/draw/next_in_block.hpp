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

/// This session's view of the database's block generator of one kind. `Kind` declares
///
///     using Id = ...;
///     static constexpr slots::Kind kind = ...;
///     static constexpr BlockGenerator<Id> slots::Slot::*state = ...;
///     static constexpr char name[] = "...";  // in the log, as in snowdrift.generators
template <typename Kind>
class BlockSession {
 public:
    using Id = typename Kind::Id;

    bool is_prepared() const { return slot_.is_attached(); }

    void prepare() {
        (void)mark::attach();
        Relation mark = mark_table::open();
        own_mark(mark);
        relation_close(mark, RowExclusiveLock);
        slot_.attach({MyDatabaseId, Kind::kind}, false);
    }

    /// The tag of the mark when the session attached, for mark::is_current().
    int tag() const { return slot_.tag(); }

    Answer<Id> ask(Request& request) {
        const auto random = random_batch.take<typename BlockGenerator<Id>::Random>();
        const int64_t now = clock::now_ms();
        SpinLockAcquire(&slot_->lock);
        const auto answer =
            ((*slot_).*Kind::state).next(now, settings::max_clock_lead, random, request);
        SpinLockRelease(&slot_->lock);
        return answer;
    }

    slots::Slot& slot() const { return *slot_; }
    overflow::Label label() const { return {Kind::name, 0, 1}; }

 private:
    SessionSlot slot_;
};

/// The next ID of this transaction. A rollback to a savepoint does not rewind the block, so IDs are
/// never repeated. A new mark ends the block: after reset_clock(), the block's time may be in the
/// future.
template <typename Kind>
typename Kind::Id next_in_block() {
    static_assert(SessionGenerator<BlockSession<Kind>>);
    static BlockSession<Kind> generator;
    static Block<typename Kind::Id> block;
    static LocalTransactionId owner = InvalidLocalTransactionId;
    if (unlikely(owner != current_transaction() || block.empty() ||
                 !mark::is_current(generator.tag()))) {
        block = Block<typename Kind::Id>{draw(generator)};
        owner = current_transaction();
    }
    return block.take();
}

}  // namespace snowdrift
