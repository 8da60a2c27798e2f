// SQL statements that C++ code runs, with the privileges of the caller.
#pragma once

#include "pg/support/postgres.hpp"

extern "C" {
#include "executor/spi.h"
}

namespace snowdrift {

/// Runs a statement that returns no rows. Names in it must be qualified. Precondition:
/// SPI_connect() was called.
inline void execute(const char* statement) {
    if (SPI_execute(statement, false, 0) < 0) elog(ERROR, "could not execute: %s", statement);
}

}  // namespace snowdrift
