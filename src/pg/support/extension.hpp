// What belongs to this extension, found in a way that nobody else's objects can influence.
#pragma once

#include "pg/support/postgres.hpp"

namespace snowdrift::extension {

/// The relation of that name in the extension's administration schema; InvalidOid if there is none.
///
/// The schema, "snowdrift" unless a superuser renames it, is that of the extension's C function
/// read_clock(). Objects that other roles create cannot be mistaken for it,
/// because only superusers can create C functions.
Oid find_relation(const char* name);

/// Whether the function is a C function, not SECURITY DEFINER, whose symbol is `symbol`. Only
/// superusers can create one.
bool is_ours(Oid function, const char* symbol);

}  // namespace snowdrift::extension
