// Recognizing statements whose exits are all guarded.
#pragma once

#include "pg/support/postgres.hpp"

extern "C" {
#include "nodes/plannodes.h"
}

namespace snowdrift::statements {

/// Whether executing the plan, or a utility command, calls only PostgreSQL's own code, functions of
/// this extension, functions that exits.cpp guards, and functions that promise to have no side
/// effects.
bool is_contained(PlannedStmt* plan);

/// The same for each statement that the current portal executes.
bool is_current_contained();

/// Whether the function may send data out of the server when it is called: a function of a
/// procedural language, or a volatile one in C that is not of this extension.
bool is_foreign_code(Oid function);

}  // namespace snowdrift::statements
