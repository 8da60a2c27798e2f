// What belongs to this extension, found in a way that nobody else's objects can influence.
#pragma once

#include "pg/postgres.hpp"

namespace snowdrift::extension {

/// The relation of that name in the extension's administration schema; InvalidOid if there is none.
///
/// The schema, "snowdrift" unless a superuser renames it, is that of the extension's C function
/// read_clock(). Neither a schema nor an extension member of somebody else's is taken for it,
/// since only superusers create C functions.
Oid find_relation(const char* name);

/// Whether the function's code is this library's `symbol`.
bool is_ours(Oid function, const char* symbol);

}  // namespace snowdrift::extension
