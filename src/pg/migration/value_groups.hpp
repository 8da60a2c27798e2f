// Groups the values of a column of IDs by their finding and by the node that issued them, while a
// query returns them.
#pragma once

#include <algorithm>
#include <array>
#include <compare>

#include "pg/support/datum.hpp"
#include "pg/support/postgres.hpp"
#include "pg/types/column_ids.hpp"
#include "snowdrift/sno.hpp"

extern "C" {
#include "executor/tuptable.h"
#include "tcop/dest.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
}

namespace snowdrift {

/// The result of checking a value. Ascending values have ascending findings.
enum class Finding : uint64 {
    below,    ///< less than the first ID
    past,     ///< an ID before a given time
    present,  ///< an ID that is neither past nor future
    future,   ///< an ID after the current time
    above,    ///< greater than the last ID, or a UUID of another version
    null,
};

/// Whether values with this finding are grouped by node.
constexpr bool has_node(Finding finding) {
    return finding == Finding::present || finding == Finding::future;
}

/// Values with the same finding from the same node.
struct ValueGroup {
    /// Compared and hashed as bytes.
    struct Key {
        Finding finding;
        uint64 node;  ///< 0 if values with this finding are not grouped by node

        friend auto operator<=>(const Key&, const Key&) = default;
    };

    Key key;
    int64 count;
    ColumnIds::SortKey first;  ///< the smallest value; undefined for nulls
    ColumnIds::SortKey last;   ///< the largest value; undefined for nulls
};

/// The smallest value of each finding from `past` on, ascending. Findings without a value are not
/// found.
struct Thresholds {
    std::array<ColumnIds::SortKey, 4> values;
    size_t count = 0;

    void add(const ColumnIds::SortKey& value) {
        Assert(count < values.size() && (count == 0 || values[count - 1] <= value));
        values[count++] = value;
    }

    Finding find(const ColumnIds::SortKey& value) const {
        size_t finding = 0;
        while (finding < count && values[finding] <= value) ++finding;
        return static_cast<Finding>(finding);
    }
};

/// A destination for the rows of a query that returns one column.
class ValueGroups : public DestReceiver {
 public:
    /// The groups are in the current memory context.
    ValueGroups(const ColumnIds& ids, const Thresholds& thresholds)
        : DestReceiver{receive, start, [](DestReceiver*) {}, [](DestReceiver*) {}, DestNone},
          ids_{ids},
          thresholds_{thresholds} {
        HASHCTL control{};
        control.keysize = sizeof(ValueGroup::Key);
        control.entrysize = sizeof(ValueGroup);
        control.hcxt = CurrentMemoryContext;
        groups_ = hash_create("groups of IDs", 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
    }

    /// Calls visit(ValueGroup) for each group, in the order of findings and nodes.
    template <typename Visit>
    void for_each(Visit visit) const {
        const auto count = static_cast<size_t>(hash_get_num_entries(groups_));
        auto** const sorted = static_cast<ValueGroup**>(
            MemoryContextAllocHuge(CurrentMemoryContext, (count + 1) * sizeof(ValueGroup*)));
        HASH_SEQ_STATUS scan;
        hash_seq_init(&scan, groups_);
        // The scan ends when it returns a null pointer.
        for (size_t i = 0; i <= count; ++i)
            sorted[i] = static_cast<ValueGroup*>(hash_seq_search(&scan));
        std::sort(sorted, sorted + count,
                  [](const ValueGroup* a, const ValueGroup* b) { return a->key < b->key; });
        for (size_t i = 0; i < count; ++i) visit(*sorted[i]);
    }

 private:
    /// Checks the column's type again: if the schema was renamed, the query can read another table
    /// of the same name.
    static void start(DestReceiver* self, int, TupleDesc row) {
        const Oid type = getBaseType(TupleDescAttr(row, 0)->atttypid);
        if (type != static_cast<ValueGroups*>(self)->ids_.type())
            elog(ERROR, "unexpected type of audited column: %u", type);
    }

    static bool receive(TupleTableSlot* slot, DestReceiver* self) {
        auto& groups = *static_cast<ValueGroups*>(self);
        bool is_null;
        const Datum value = slot_getattr(slot, 1, &is_null);
        if (is_null)
            ++groups.find({Finding::null, 0}).count;
        else
            groups.add(value);
        return true;
    }

    uint64 node_of(Datum id) const {
        if (ids_.kind() == ColumnIds::Kind::snowflake) return DatumGetInt64(id) & node_mask_;
        return ids_.kind() == ColumnIds::Kind::sno ? get_id<Sno>(id).partition() : 0;
    }

    void add(Datum value) {
        const ColumnIds::SortKey key = ids_.sort_key(value);
        const bool is_other_uuid = ids_.kind() == ColumnIds::Kind::uuidv7 && !ids_.time_of(value);
        const Finding finding = is_other_uuid ? Finding::above : thresholds_.find(key);
        ValueGroup& group = find({finding, has_node(finding) ? node_of(value) : 0});
        if (group.count++ == 0) group.first = group.last = key;
        group.first = std::min(group.first, key);
        group.last = std::max(group.last, key);
    }

    ValueGroup& find(const ValueGroup::Key& key) {
        bool is_found;
        auto* const group =
            static_cast<ValueGroup*>(hash_search(groups_, &key, HASH_ENTER, &is_found));
        if (!is_found) group->count = 0;
        return *group;
    }

    ColumnIds ids_;
    Thresholds thresholds_;
    uint64 node_mask_ = ids_.layout().node_field(ids_.layout().max_node());  // in Snowflake IDs
    HTAB* groups_;
};

}  // namespace snowdrift
