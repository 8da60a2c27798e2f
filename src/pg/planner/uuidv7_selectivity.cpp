#include "pg/planner/uuidv7_selectivity.hpp"

#include <algorithm>

#include "pg/support/datum.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type_d.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
}

namespace snowdrift {
namespace {

/// An interval of the first 64 bits of UUIDs, as numbers. For version 7, they begin with the
/// timestamp.
struct Interval64 {
    double begin;
    double end;

    double length() const { return end - begin; }

    /// The share of this interval that is in `other`, 0 .. 1.
    double share_in(const Interval64& other) const {
        Assert(begin <= end && other.begin <= other.end);
        const double common = std::min(end, other.end) - std::max(begin, other.begin);
        if (common < 0) return 0;
        return length() > 0 ? common / length() : 1;
    }
};

/// The histogram of a uuid column. Its buckets hold equal numbers of rows. The column may also hold
/// UUIDs of other versions. Random ones (version 4) are spread over all values, so very few of them
/// are among UUIDs of version 7 from a few decades.
class Histogram {
 public:
    explicit Histogram(const AttStatsSlot& slot)
        : bounds_{slot.values}, buckets_{slot.nvalues - 1} {
        Assert(buckets_ > 0);
    }

    /// The share of rows that have version 7 and are in `range`.
    double share_in(const Interval64& range) const {
        const double width_of_others = find_width_of_others();
        double full_buckets = 0;
        for (int i = 0; i < buckets_; ++i) full_buckets += rows_in_range(i, range, width_of_others);
        return full_buckets / buckets_;
    }

 private:
    const Uuidv7::Bytes& bound(int i) const { return get_id<Uuidv7::Bytes>(bounds_[i]); }

    bool is_version_7(int i) const { return Uuidv7::is_version_7(bound(i)); }

    Interval64 bucket(int i) const {
        return {static_cast<double>(load_big_endian(bound(i).data())),
                static_cast<double>(load_big_endian(bound(i + 1).data()))};
    }

    /// Whether both bounds of a bucket have version 7; false if there is no such bucket.
    bool is_of_version_7(int i) const {
        return i >= 0 && i < buckets_ && is_version_7(i) && is_version_7(i + 1);
    }

    /// The mean width of the buckets with two bounds of other versions; 0 if there are none.
    double find_width_of_others() const {
        double sum = 0;
        int count = 0;
        for (int i = 0; i < buckets_; ++i) {
            if (is_version_7(i) || is_version_7(i + 1)) continue;
            sum += bucket(i).length();
            ++count;
        }
        return count > 0 ? sum / count : 0;
    }

    /// The rows of version 7 in a bucket and a range, as a share of the bucket's rows.
    ///
    /// In a bucket with one bound of version 7, the number of other UUIDs is estimated from its
    /// width. Its UUIDs of version 7 are assumed to be next to that bound, and as dense as in the
    /// bucket on the other side of the bound.
    double rows_in_range(int i, const Interval64& range, double width_of_others) const {
        Interval64 times = bucket(i);
        if (is_of_version_7(i)) return times.share_in(range);
        if (!is_version_7(i) && !is_version_7(i + 1)) return 0;
        const double others = width_of_others > 0 ? times.length() / width_of_others : 0;
        const double rows = std::max(1 - others, 0.0);
        const int neighbor = is_version_7(i) ? i - 1 : i + 1;
        const double length = is_of_version_7(neighbor)
                                  ? std::min(rows * bucket(neighbor).length(), times.length())
                                  : times.length();
        if (is_version_7(i))
            times.end = times.begin + length;
        else
            times.begin = times.end - length;
        return rows * times.share_in(range);
    }

    const Datum* bounds_;
    int buckets_;
};

/// Whether statistics hold UUIDs. Those of a column whose type is a domain hold values of the
/// domain.
bool has_uuids(const AttStatsSlot& slot) { return getBaseType(slot.valuetype) == UUIDOID; }

/// The share of rows with one of the most common values that have version 7 and are in a range.
/// Adds the share of all rows with one of these values to `all`.
double share_of_common_values(const AttStatsSlot& slot, const Uuidv7& first, const Uuidv7& last,
                              double& all) {
    double result = 0;
    for (int i = 0; i < slot.nvalues; ++i) {
        all += slot.numbers[i];
        const auto& bytes = get_id<Uuidv7::Bytes>(slot.values[i]);
        if (!Uuidv7::is_version_7(bytes)) continue;
        const Uuidv7 id{bytes};
        if (first <= id && id <= last) result += slot.numbers[i];
    }
    return result;
}

/// Whether the bounds of a histogram contain UUIDs of other versions than 7.
bool has_other_versions(const AttStatsSlot& histogram) {
    const auto is_other = [](Datum value) {
        return !Uuidv7::is_version_7(get_id<Uuidv7::Bytes>(value));
    };
    return histogram.nvalues > 1 && has_uuids(histogram) &&
           std::any_of(histogram.values, histogram.values + histogram.nvalues, is_other);
}

/// The share of rows with UUIDs of version 7 from `first` to `last`, in a column with this
/// histogram.
double estimate(HeapTuple statistics, const AttStatsSlot& histogram, const Uuidv7& first,
                const Uuidv7& last) {
    AttStatsSlot slot;
    double common = 0;
    double result = 0;
    if (get_attstatsslot(&slot, statistics, STATISTIC_KIND_MCV, InvalidOid,
                         ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS)) {
        if (has_uuids(slot)) result = share_of_common_values(slot, first, last, common);
        free_attstatsslot(&slot);
    }
    const auto* const statistic = reinterpret_cast<Form_pg_statistic>(GETSTRUCT(statistics));
    const double others = std::max(1 - statistic->stanullfrac - common, 0.0);
    result += others * Histogram{histogram}.share_in(
                           {static_cast<double>(first.high()), static_cast<double>(last.high())});
    return std::min(result, 1.0);
}

}  // namespace

std::optional<double> estimate_among_versions(const SupportRequestSelectivity& request,
                                              const Uuidv7& first, const Uuidv7& last) {
    VariableStatData variable;
    examine_variable(request.root, static_cast<Node*>(linitial(request.args)), request.varRelid,
                     &variable);
    std::optional<double> result;
    AttStatsSlot slot;
    if (variable.statsTuple != nullptr &&
        statistic_proc_security_check(&variable, request.funcid) &&
        get_attstatsslot(&slot, variable.statsTuple, STATISTIC_KIND_HISTOGRAM, InvalidOid,
                         ATTSTATSSLOT_VALUES)) {
        if (has_other_versions(slot))
            result = last < first ? 0 : estimate(variable.statsTuple, slot, first, last);
        free_attstatsslot(&slot);
    }
    ReleaseVariableStats(variable);
    return result;
}

}  // namespace snowdrift
