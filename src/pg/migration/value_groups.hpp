// Groups the values of a column of IDs by their finding and by the node that issued them, while a
// query returns them.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <concepts>

#include "pg/support/datum.hpp"
#include "pg/support/postgres.hpp"
#include "snowdrift/sno.hpp"
#include "snowdrift/uuidv7.hpp"

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

/// The value in a Datum of a column of Snowflake IDs (int64), ULIDs, snos or UUIDs (Uuidv7::Bytes).
template <typename Value>
Value get_value(Datum datum) {
    if constexpr (std::same_as<Value, int64>)
        return DatumGetInt64(datum);
    else
        return get_id<Value>(datum);
}

/// Values with the same finding from the same node. `Value`: int64 for Snowflake IDs, Ulid,
/// Sno or Uuidv7::Bytes.
template <typename Value>
struct ValueGroup {
    /// Compared and hashed as bytes.
    struct Key {
        Finding finding;
        uint64 node;  ///< 0 if values with this finding are not grouped by node

        friend auto operator<=>(const Key&, const Key&) = default;
    };

    Key key;
    int64 count;
    Value first;  ///< the smallest value; undefined for nulls
    Value last;   ///< the largest value; undefined for nulls
};

/// The smallest value of each finding from `past` on, ascending. Findings without a value are not
/// found.
template <typename Value>
struct Thresholds {
    std::array<Value, 4> values;
    size_t count = 0;

    void add(const Value& value) { values[count++] = value; }

    Finding find(const Value& value) const {
        size_t finding = 0;
        while (finding < count && values[finding] <= value) ++finding;
        return static_cast<Finding>(finding);
    }
};

/// A destination for the rows of a query that returns one column.
template <typename Value>
class ValueGroups : public DestReceiver {
 public:
    using Group = ValueGroup<Value>;

    /// `type`: the type of the column, not a domain. `node_mask`: the bits of the node in a
    /// Snowflake ID. The groups are in the current memory context.
    ValueGroups(Oid type, const Thresholds<Value>& thresholds, uint64 node_mask)
        : DestReceiver{receive, start, [](DestReceiver*) {}, [](DestReceiver*) {}, DestNone},
          type_{type},
          thresholds_{thresholds},
          node_mask_{node_mask} {
        HASHCTL control{};
        control.keysize = sizeof(typename Group::Key);
        control.entrysize = sizeof(Group);
        control.hcxt = CurrentMemoryContext;
        groups_ = hash_create("groups of IDs", 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
    }

    /// Calls visit(Group) for each group, in the order of findings and nodes.
    template <typename Visit>
    void for_each(Visit visit) const {
        const auto count = static_cast<size_t>(hash_get_num_entries(groups_));
        auto** const sorted = static_cast<Group**>(
            MemoryContextAllocHuge(CurrentMemoryContext, (count + 1) * sizeof(Group*)));
        HASH_SEQ_STATUS scan;
        hash_seq_init(&scan, groups_);
        // The scan ends when it returns a null pointer.
        for (size_t i = 0; i <= count; ++i) sorted[i] = static_cast<Group*>(hash_seq_search(&scan));
        std::sort(sorted, sorted + count,
                  [](const Group* a, const Group* b) { return a->key < b->key; });
        for (size_t i = 0; i < count; ++i) visit(*sorted[i]);
    }

 private:
    uint64 node_of(const Value& id) const {
        if constexpr (std::same_as<Value, int64>) return static_cast<uint64>(id) & node_mask_;
        if constexpr (std::same_as<Value, Sno>) return id.partition();
        return 0;
    }

    /// Checks the column's type again: if the schema was renamed, the query can read another table
    /// of the same name.
    static void start(DestReceiver* self, int, TupleDesc row) {
        const Oid type = getBaseType(TupleDescAttr(row, 0)->atttypid);
        if (type != static_cast<ValueGroups*>(self)->type_)
            elog(ERROR, "unexpected type of audited column: %u", type);
    }

    static bool receive(TupleTableSlot* slot, DestReceiver* self) {
        auto& groups = *static_cast<ValueGroups*>(self);
        bool is_null;
        const Datum datum = slot_getattr(slot, 1, &is_null);
        if (is_null)
            ++groups.find({Finding::null, 0}).count;
        else
            groups.add(get_value<Value>(datum));
        return true;
    }

    Finding find_finding(const Value& value) const {
        if constexpr (std::same_as<Value, Uuidv7::Bytes>)
            if (!Uuidv7::is_version_7(value)) return Finding::above;
        return thresholds_.find(value);
    }

    void add(const Value& value) {
        const Finding finding = find_finding(value);
        Group& group = find({finding, has_node(finding) ? node_of(value) : 0});
        if (group.count++ == 0) group.first = group.last = value;
        group.first = std::min(group.first, value);
        group.last = std::max(group.last, value);
    }

    Group& find(const typename Group::Key& key) {
        bool is_found;
        auto* const group = static_cast<Group*>(hash_search(groups_, &key, HASH_ENTER, &is_found));
        if (!is_found) group->count = 0;
        return *group;
    }

    Oid type_;
    Thresholds<Value> thresholds_;
    uint64 node_mask_;
    HTAB* groups_;
};

}  // namespace snowdrift
