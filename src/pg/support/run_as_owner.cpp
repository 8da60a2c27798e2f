// The SQL function snowdrift.run_as_owner(), with which the tools execute their statements.
#include "pg/support/postgres.hpp"
#include "pg/support/tables.hpp"

extern "C" {
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/guc.h"
}

using namespace snowdrift;

/// snowdrift.run_as_owner("table" regclass, statement text) → text: the first column of the
/// statement's first row. In SQL, SET ROLE would do the same, but the functions that the statement
/// calls could reset the role to the session's. Row-level security hides no row.
SNOWDRIFT_FUNCTION(run_as_owner) {
    const Oid table = PG_GETARG_OID(0);
    const char* const statement = text_to_cstring(PG_GETARG_TEXT_PP(1));
    check_owner(table);
    MemoryContext caller = CurrentMemoryContext;
    SPI_connect();
    const OwnerContext owner{table};
    (void)set_config_option("row_security", "off", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE,
                            true, 0, false);
    execute(statement);
    const char* value = nullptr;
    if (SPI_tuptable != nullptr && SPI_processed > 0)
        value = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
    if (value != nullptr) value = MemoryContextStrdup(caller, value);
    owner.restore();
    SPI_finish();
    if (value == nullptr) PG_RETURN_NULL();
    return CStringGetTextDatum(value);
}
