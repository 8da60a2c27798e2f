// The table snowdrift_tables.generator and its rows. definitions.hpp has what is done with them.
#pragma once

#include <optional>

#include "pg/named/definition.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/scan.hpp"

extern "C" {
#include "access/htup.h"
#include "access/table.h"
#include "storage/lockdefs.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"
}

namespace snowdrift::definitions {

/// The columns of snowdrift_tables.generator, in order.
enum class Column : uint8_t {
    name,
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
    spread,
};
inline constexpr int column_count = static_cast<int>(Column::spread) + 1;

/// Incremented whenever this session processes an invalidation of the table. A definition read at
/// an earlier version is outdated.
extern uint64_t version;

/// Opens and locks the table. From then on, invalidations of it increment `version`. Raises 42P01
/// if it is missing, 55000 if it was altered.
Relation open_table(LOCKMODE lock = AccessShareLock);

/// A row of snowdrift_tables.generator, or one to be added.
struct Row {
    Oid table;                                   ///< InvalidOid if the row is to be added
    HeapTuple tuple;                             ///< null if the row is to be added
    std::optional<Datum> columns[column_count];  ///< nothing if null; by reference, in the tuple

    auto& operator[](Column column) { return columns[static_cast<int>(column)]; }
    const auto& operator[](Column column) const { return columns[static_cast<int>(column)]; }

    /// An integer column; 0 if it is null.
    uint32_t number(Column column) const;

    /// Whether a column of type text has the value `wanted`.
    bool has_text(Column column, const char* wanted) const;

    /// The generator, which is known even if its definition is invalid.
    GeneratorId generator() const { return {table, number(Column::id)}; }

    slots::Kind kind() const {
        return has_text(Column::kind, "sno") ? slots::Kind::sno : slots::Kind::snowflake;
    }

    /// The definition, by default with the whole sequence. The bounds of the sequence need not be
    /// in order. Raises 22003 if a field is out of range.
    Definition definition() const;

    /// The same, but its fields may be out of range.
    Definition unchecked_definition() const;
};

/// The row in a tuple of the table.
Row read_row(Relation table, HeapTuple tuple);

/// Calls visit(const Row&) for each row visible to `snapshot` (null: a current catalog snapshot)
/// until it returns true. Returns whether a call returned true.
template <typename Visit>
bool find_row(Relation table, Snapshot snapshot, Visit visit) {
    return find_tuple(table, snapshot, InvalidOid, {},
                      [&](HeapTuple tuple) { return visit(read_row(table, tuple)); });
}

/// Calls visit(const Row&) for each row.
template <typename Visit>
void for_each_row(Visit visit) {
    Relation table = open_table();
    (void)find_row(table, nullptr, [&](const Row& row) {
        visit(row);
        return false;
    });
    table_close(table, AccessShareLock);
}

}  // namespace snowdrift::definitions
