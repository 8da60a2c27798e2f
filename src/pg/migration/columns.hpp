// Columns of tables, the same columns of inheriting tables, and the columns that refer to them by
// foreign keys. Partitions inherit from partitioned tables. The functions read the current
// catalogs, and lock no tables.
#pragma once

#include <compare>

#include "pg/support/postgres.hpp"

extern "C" {
#include "access/attnum.h"
#include "nodes/pg_list.h"
}

namespace snowdrift {

struct Column {
    Oid table;
    AttrNumber number;

    friend auto operator<=>(const Column&, const Column&) = default;
};

/// A column of a foreign key, and the column that it refers to.
struct Reference {
    Column from;
    Column to;
};

/// The elements of a List of pointers to `T`, for range-based for loops. A list that is not empty
/// may grow during the loop.
template <typename T>
class Items {
 public:
    explicit Items(const List* list) : list_{list} {}

    struct Iterator {
        const List* list;
        int position;

        const T& operator*() const { return *static_cast<T*>(list_nth(list, position)); }
        void operator++() { ++position; }
        bool operator!=(std::nullptr_t) const { return position < list_length(list); }
    };
    Iterator begin() const { return {list_, 0}; }
    std::nullptr_t end() const { return nullptr; }

 private:
    const List* list_;
};

/// The column `name` of a table. Raises 42703.
Column find_column(Oid table, const char* name);

/// Append a column to a List of Column, unless the list contains it.
void add_column(List*& columns, const Column& column);

/// The name of a column, not quoted.
const char* column_name(const Column& column);

/// Whether a table inherits the column.
bool is_inherited(const Column& column);

/// The column, and the same column in all tables that inherit it, as a List of Column.
List* family_of(const Column& column);

/// Append to a List of Column the columns from which a table inherits `column` and which are not
/// inherited themselves. If `column` is not inherited, append it.
void add_origins(List*& origins, const Column& column);

/// All columns of foreign keys, as a List of Reference.
List* read_references();

/// The columns `keys`, and all columns that refer to them directly or through other columns, as a
/// List of Column in the order of tables' OIDs. None of them is inherited. Precondition: no key is
/// inherited.
List* with_referring_columns(List* keys, List* references);

}  // namespace snowdrift
