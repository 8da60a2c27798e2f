// Recognizing statements, and parts of them, that are *contained*: all exits that they can reach
// are guarded.
#pragma once

#include "pg/support/postgres.hpp"

extern "C" {
#include "nodes/plannodes.h"
}

namespace snowdrift::statements {

/// Whether the statement, a plan or a utility command, is contained: executing it calls only
/// PostgreSQL's own code, functions of this extension, functions that exits.cpp guards, and
/// functions that are declared to have no side effects.
bool is_contained(PlannedStmt* plan);

/// The same for each statement that the current portal executes.
bool is_current_contained();

/// Whether a call of the function may send data out of the server: it is written in a procedural
/// language, or is a volatile C function that does not belong to this extension.
bool is_foreign_code(Oid function);

}  // namespace snowdrift::statements
