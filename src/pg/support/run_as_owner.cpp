// The SQL function snowdrift.run_as_owner(), with which the tools execute their statements.
#include "pg/support/postgres.hpp"
#include "pg/support/tables.hpp"

extern "C" {
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
}

using namespace snowdrift;

namespace {

/// Ensures that the caller could set the role of the owner. Raises 42501.
void check_role(Oid owner) {
    const Oid caller = GetUserId();
    if (caller == owner || superuser()) return;
    if (InLocalUserIdChange() || InSecurityRestrictedOperation())
        ereport(ERROR,
                (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                 errmsg("cannot become the owner of a table within a security-definer function or "
                        "a security-restricted operation"),
                 errhint("Call the function as the table's owner.")));
    if (superuser_arg(owner) || !member_can_set_role(caller, owner))
        ereport(ERROR,
                (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                 errmsg("permission denied to set role \"%s\"", GetUserNameFromId(owner, false)),
                 errhint("Call the function as the table's owner.")));
}

}  // namespace

/// snowdrift.run_as_owner("table" regclass, statement text) → text: the first column of the
/// statement's first row. In SQL, SET ROLE would do the same, but the functions that the statement
/// calls could reset the role to the session's. Row-level security hides no row.
SNOWDRIFT_FUNCTION(run_as_owner) {
    const Oid table = PG_GETARG_OID(0);
    const char* const statement = text_to_cstring(PG_GETARG_TEXT_PP(1));
    check_owner(table);
    check_role(owner_of(table));
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
