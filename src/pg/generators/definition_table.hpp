// The table snowdrift_tables.generator and its rows. definitions.hpp has what is done with them.
#pragma once

#include <cstring>
#include <optional>

#include "pg/generators/definitions.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/scan.hpp"

extern "C" {
#include "access/htup.h"
#include "storage/lockdefs.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"
}

namespace snowdrift::definitions {

/// The columns of snowdrift_tables.generator, in order.
enum Column : AttrNumber {
    name = 1,
    id,
    kind,
    layout,
    datacenter,
    worker,
    partition,
    sequence_min,
    sequence_max,
    this_node_only,
    origin,
};
inline constexpr int column_count = origin;

/// Opens and locks the table. From then on, invalidations of it increment `version`. Raises 42P01
/// if it is missing, 55000 if it was altered.
Relation open_table(LOCKMODE lock = AccessShareLock);

/// A row of snowdrift_tables.generator.
class Row {
 public:
    Row(Relation table, HeapTuple tuple) : table_{table}, tuple_{tuple} {}

    /// The value of a column; nothing if it is null.
    std::optional<Datum> get(Column column) const;

    /// An integer column; 0 if it is null.
    int32 get_number(Column column) const { return DatumGetInt32(get(column).value_or(Datum{0})); }

    /// Whether a column of type text has the value `wanted`.
    bool has_text(Column column, const char* wanted) const;

    /// The generator, which is known even if its definition is invalid.
    GeneratorId generator() const;

    /// The definition. Raises 22003 or 22023 if it is invalid, which is possible only for a row
    /// inserted by hand.
    Definition definition() const;

    HeapTuple tuple() const { return tuple_; }

 private:
    std::optional<uint32_t> get_field(Column column, const char* field, uint32_t max) const;
    bool is_uncommitted() const;

    Relation table_;
    HeapTuple tuple_;
};

/// Calls visit(Row) for each row visible to `snapshot` (null: a current catalog snapshot) until it
/// returns true. Returns whether a call returned true.
template <typename Visit>
bool find_row(Relation table, Snapshot snapshot, Visit visit) {
    return find_tuple(table, snapshot, [&](HeapTuple tuple) { return visit(Row{table, tuple}); });
}

}  // namespace snowdrift::definitions
