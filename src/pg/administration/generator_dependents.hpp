// The objects that call a named generator: defaults of columns and domains, and watches of tables.
// PostgreSQL records that they depend on the functions, but not on which generator.
#pragma once

namespace snowdrift {

/// Ensures that no such object names the generator `name`. Raises 2BP01, which lists the objects.
/// Calls in functions, views and triggers, and names that are not constants, are not found. Takes
/// no locks on tables, so a default that another transaction creates meanwhile is not found either.
void check_no_dependents(const char* name);

}  // namespace snowdrift
