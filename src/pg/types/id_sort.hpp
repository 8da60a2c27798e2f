// Sorting IDs with abbreviated keys: nearly every comparison looks at Datums that hold the IDs'
// first eight bytes, and never fetches the IDs themselves.
#pragma once

#include <compare>

#include "pg/support/datum.hpp"
#include "pg/support/postgres.hpp"

extern "C" {
#include "common/hashfn.h"
#include "lib/hyperloglog.h"
#include "utils/sortsupport.h"
}

namespace snowdrift {

static_assert(sizeof(Datum) == sizeof(uint64), "an abbreviated key is eight bytes");

/// Estimates, while a sort takes its IDs in, whether their keys are distinct enough to help. IDs of
/// one instant may share their first eight bytes, and then keys are only a detour.
class KeyStatistics {
 public:
    KeyStatistics() { initHyperLogLog(&distinct_, 10); }

    void add(uint64 key) {
        ++keys_;
        if (counting_)
            addHyperLogLog(&distinct_, hash_bytes_uint32(static_cast<uint32>(key ^ key >> 32)));
    }

    bool are_keys_useless() {
        if (keys_ < enough_to_judge || !counting_) return false;
        const double distinct = estimateHyperLogLog(&distinct_);
        if (distinct > enough_to_trust) counting_ = false;
        return distinct < static_cast<double>(keys_) / max_ids_per_key;
    }

 private:
    static constexpr int64 enough_to_judge = 10'000;
    static constexpr double enough_to_trust = 100'000;  // distinct keys: stop counting, keep them
    static constexpr double max_ids_per_key = 2'000;

    int64 keys_ = 0;
    bool counting_ = true;
    hyperLogLogState distinct_{};
};

/// The order of two IDs as PostgreSQL wants it told: below, at or above zero.
template <typename Id>
int compare(const Id& a, const Id& b) {
    const std::strong_ordering order = a <=> b;
    return (order > 0) - (order < 0);
}

template <typename Id>
int compare_datums(Datum a, Datum b, SortSupport) {
    return compare(get_id<Id>(a), get_id<Id>(b));
}

/// The first eight bytes as a number. Keys of different IDs may be equal, and then the IDs decide.
template <typename Id>
Datum abbreviate(Datum id, SortSupport sort) {
    const uint64 key = get_id<Id>(id).high();
    static_cast<KeyStatistics*>(sort->ssup_extra)->add(key);
    return UInt64GetDatum(key);
}

inline bool should_stop_abbreviating(int, SortSupport sort) {
    return static_cast<KeyStatistics*>(sort->ssup_extra)->are_keys_useless();
}

/// Tell a sort how to compare IDs, with abbreviated keys if it can use them.
template <typename Id>
void prepare_sort(SortSupport sort) {
    sort->comparator = compare_datums<Id>;
    if (!sort->abbreviate) return;

    auto* const caller = MemoryContextSwitchTo(sort->ssup_cxt);
    sort->ssup_extra = new (palloc(sizeof(KeyStatistics))) KeyStatistics;
    MemoryContextSwitchTo(caller);
    sort->comparator = ssup_datum_unsigned_cmp;
    sort->abbrev_converter = abbreviate<Id>;
    sort->abbrev_abort = should_stop_abbreviating;
    sort->abbrev_full_comparator = compare_datums<Id>;
}

}  // namespace snowdrift
