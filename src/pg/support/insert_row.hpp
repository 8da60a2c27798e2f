// Inserting rows into the extension's tables without the executor.
#pragma once

#include <optional>
#include <span>

#include "pg/support/postgres.hpp"

extern "C" {
#include "utils/relcache.h"
}

namespace snowdrift {

/// Inserts a row into a table of the extension, whatever the privileges of the current role. No
/// trigger, rule, policy or default applies, and no constraint except those of indexes. A column
/// without a value is null, and so are columns of later versions of the extension, which follow
/// `columns`. Raises 55000 if the table has added columns that must not be null, or indexes with
/// expressions or predicates. Precondition: the caller holds a RowExclusiveLock on the table.
void insert_row(Relation table, std::span<const std::optional<Datum>> columns);

}  // namespace snowdrift
