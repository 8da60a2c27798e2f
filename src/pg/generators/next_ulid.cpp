// New ULIDs in SQL: monotonic ones, a block of them for each transaction, and random ones.
#include "core/ulid_generator.hpp"

#include "pg/generators/draw.hpp"
#include "pg/memory/slots.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/datum.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/random.hpp"
#include "pg/support/settings.hpp"
#include "pg/types/id_traits.hpp"

using namespace snowdrift;

namespace {

/// This session's view of the database's ULID generator.
class SessionGenerator {
 public:
    bool is_prepared() const { return slot_.is_attached(); }

    void prepare() {
        slot_.attach({MyDatabaseId, slots::Kind::ulid}, false,
                     [](slots::Slot& slot, int64_t unix_ms) {
                         SpinLockAcquire(&slot.lock);
                         slot.ulid.move_past(unix_ms);
                         SpinLockRelease(&slot.lock);
                     });
    }

    /// The mark under which the last ULID was drawn.
    int tag() const { return slot_.tag(); }

    UlidGenerator::Answer ask(Request& request) {
        const auto random = random_batch.take<UlidGenerator::Random>();
        const int64_t now = clock::now_ms();
        SpinLockAcquire(&slot_->lock);
        const auto answer = slot_->ulid.next(now, settings::max_clock_lead, random, request);
        SpinLockRelease(&slot_->lock);
        return answer;
    }

    slots::Slot& slot() const { return *slot_; }
    overflow::Name name() const { return {"ulid", 0, 1}; }

 private:
    SessionSlot slot_;
};

/// The next ULID of this transaction. Nothing of it rolls back, so a value is not returned again
/// after a rollback to a savepoint. A block ends with the mark under which it was taken: after
/// reset_clock(), its time may be in the future.
Ulid next_ulid() {
    static SessionGenerator generator;
    static UlidBlock block;
    static LocalTransactionId taken_by = InvalidLocalTransactionId;
    if (unlikely(taken_by != current_transaction() || block.empty() ||
                 !mark::is_current(generator.tag()))) {
        block = UlidBlock{draw(generator)};
        taken_by = current_transaction();
    }
    return block.take();
}

Ulid random_ulid(int64_t unix_ms) {
    return Ulid::compose(unix_ms, random_batch.take<Ulid::Randomness>());
}

}  // namespace

/// next_ulid() → ulid, also gen_monotonic_ulid()
SNOWDRIFT_FUNCTION(next_ulid) { return make_datum(next_ulid()); }

/// gen_ulid() → ulid
SNOWDRIFT_FUNCTION(gen_ulid) {
    const int64_t now = clock::now_ms();
    if (!Ulid::contains_time(now)) refuse(Verdict::out_of_range, 0);
    return make_datum(random_ulid(now));
}

/// ulid_at(timestamptz) → ulid
SNOWDRIFT_FUNCTION(ulid_at) {
    const TimestampTz time = PG_GETARG_TIMESTAMPTZ(0);
    return make_datum(random_ulid(check_time(IdTraits<Ulid>::times, time, unix_ms_floor(time))));
}
