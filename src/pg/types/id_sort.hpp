// Sorting of IDs with abbreviated keys. A key is a Datum that holds the first eight bytes of an ID,
// so most comparisons do not read the ID.
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

/// Estimates the number of distinct keys while a sort reads its input. Abbreviation does not pay
/// off if many IDs share their first eight bytes, as IDs of one millisecond may.
class KeyStatistics {
 public:
    KeyStatistics() { initHyperLogLog(&distinct_, 10); }

    void add(uint64 key) {
        ++keys_;
        if (counting_)
            addHyperLogLog(&distinct_, hash_bytes_uint32(static_cast<uint32>(key ^ key >> 32)));
    }

    /// Whether the keys seen so far are too similar to speed up the sort.
    bool has_too_few_distinct_keys() {
        if (keys_ < min_keys || !counting_) return false;
        const double distinct = estimateHyperLogLog(&distinct_);
        if (distinct > sufficient_distinct_keys) counting_ = false;
        return distinct < static_cast<double>(keys_) / max_ids_per_key;
    }

 private:
    static constexpr int64 min_keys = 10'000;                    // before the first estimate
    static constexpr double sufficient_distinct_keys = 100'000;  // no estimates beyond this
    static constexpr double max_ids_per_key = 2'000;

    int64 keys_ = 0;
    bool counting_ = true;
    hyperLogLogState distinct_{};
};

/// Returns -1, 0 or 1 if `a` is less than, equal to or greater than `b`, as a btree comparison
/// function must.
template <typename Id>
int compare(const Id& a, const Id& b) {
    const std::strong_ordering order = a <=> b;
    return (order > 0) - (order < 0);
}

template <typename Id>
int compare_datums(Datum a, Datum b, SortSupport) {
    return compare(get_id<Id>(a), get_id<Id>(b));
}

/// Returns the first eight bytes of an ID as a number. If two keys are equal, the sort compares the
/// IDs.
template <typename Id>
Datum abbreviate(Datum id, SortSupport sort) {
    Assert(sort->ssup_extra != nullptr);
    const uint64 key = get_id<Id>(id).high();
    static_cast<KeyStatistics*>(sort->ssup_extra)->add(key);
    return UInt64GetDatum(key);
}

inline bool should_stop_abbreviating(int, SortSupport sort) {
    return static_cast<KeyStatistics*>(sort->ssup_extra)->has_too_few_distinct_keys();
}

/// Sets the comparator of a sort, and the abbreviation functions if the sort supports them.
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
