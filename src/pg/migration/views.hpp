// Views that a conversion drops and creates again: what prevents it, and the statements. The
// statements restore all properties of a view, or the view is not dropped.
#pragma once

#include "pg/support/postgres.hpp"

extern "C" {
#include "catalog/objectaddress.h"
#include "nodes/pg_list.h"
}

namespace snowdrift {

/// Precedes statements_to_create(): the statements resolve names as this search path does, not as
/// the caller's.
inline constexpr const char* catalog_path_statement = "SET LOCAL search_path = pg_catalog, pg_temp";

/// Why an object that depends on a column cannot be created again by the current user, for example
/// "belongs to role x". An empty text if it is not a view; null if it is a view that can be.
/// Requires a connection to SPI.
const char* obstacle_to_create(const ObjectAddress& object);

/// The names of the schemas of a view and of what it uses, as a List of char *. Requires a
/// connection to SPI.
List* schemas_in(Oid view);

/// The statements that create a view, with its owner, privileges and comments, as a List of char *.
/// Requires a connection to SPI. Precondition: no obstacle_to_create().
List* statements_to_create(Oid view);

}  // namespace snowdrift
