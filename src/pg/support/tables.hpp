// Checks of tables that functions read and change.
#pragma once

#include <span>

#include "pg/support/postgres.hpp"

extern "C" {
#include "access/tupdesc.h"
}

namespace snowdrift {

/// Whether the first columns of a table have these types. That of a dropped column is InvalidOid.
bool has_columns(TupleDesc table, std::span<const Oid> types);

}  // namespace snowdrift
