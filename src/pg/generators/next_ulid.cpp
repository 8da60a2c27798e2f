// The SQL functions that generate ULIDs: the monotonic next_ulid(), which takes a block per
// transaction, and the random gen_ulid() and ulid_at().
#include "core/ulid_generator.hpp"
#include "pg/generators/copied_server.hpp"
#include "pg/generators/draw.hpp"
#include "pg/support/checks.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/datum.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/random.hpp"
#include "pg/support/settings.hpp"
#include "pg/types/id_traits.hpp"

using namespace snowdrift;

namespace {

/// This session's view of the database's ULID generator.
class UlidSession {
 public:
    using Id = Ulid;

    bool is_prepared() const { return slot_.is_attached(); }

    void prepare() {
        own_mark();
        slot_.attach({MyDatabaseId, slots::Kind::ulid}, false);
    }

    /// The tag of the mark when the session attached, for mark::is_current().
    int tag() const { return slot_.tag(); }

    Answer<Id> ask(Request& request) {
        const auto random = random_batch.take<UlidGenerator::Random>();
        const int64_t now = clock::now_ms();
        SpinLockAcquire(&slot_->lock);
        const auto answer = slot_->ulid.next(now, settings::max_clock_lead, random, request);
        SpinLockRelease(&slot_->lock);
        return answer;
    }

    slots::Slot& slot() const { return *slot_; }
    overflow::Label label() const { return {"ulid", 0, 1}; }

 private:
    SessionSlot slot_;
};
static_assert(SessionGenerator<UlidSession>);

/// The next ULID of this transaction. A rollback to a savepoint does not rewind the block, so ULIDs
/// are never repeated. A new mark ends the block: after reset_clock(), the block's time may be in
/// the future.
Ulid next_ulid() {
    static UlidSession generator;
    static UlidBlock block;
    static LocalTransactionId owner = InvalidLocalTransactionId;
    if (unlikely(owner != current_transaction() || block.empty() ||
                 !mark::is_current(generator.tag()))) {
        block = UlidBlock{draw(generator)};
        owner = current_transaction();
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
    if (!Ulid::contains_time(now)) report_clock_error(Verdict::out_of_range, 0);
    return make_datum(random_ulid(now));
}

/// ulid_at(timestamptz) → ulid
SNOWDRIFT_FUNCTION(ulid_at) {
    const TimestampTz time = PG_GETARG_TIMESTAMPTZ(0);
    return make_datum(random_ulid(check_time(IdTraits<Ulid>::times, time, unix_ms_floor(time))));
}
