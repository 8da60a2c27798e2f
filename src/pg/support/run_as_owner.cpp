// The SQL function snowdrift.run_as_owner(), with which the tools execute their statements.
#include "pg/support/postgres.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

using namespace snowdrift;

namespace {

/// The owner of a relation, whose privileges the current user must have. Raises 42P01, or 42501 as
/// ALTER TABLE does.
Oid check_owner(Oid relation) {
    HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
    if (!HeapTupleIsValid(tuple))
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
                        errmsg("relation with OID %u does not exist", relation)));
    const Oid owner = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple))->relowner;
    ReleaseSysCache(tuple);
    if (!object_ownercheck(RelationRelationId, relation, GetUserId()))
        aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(get_rel_relkind(relation)),
                       get_rel_name(relation));
    return owner;
}

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
    const Oid owner = check_owner(table);
    check_role(owner);
    MemoryContext caller = CurrentMemoryContext;
    SPI_connect();
    // Until an error, or the end of the statement. Row-level security is not applied to the owner,
    // and functions that other roles have put in the relation's constraints and indexes do not get
    // the caller's privileges, and cannot change settings for longer.
    Oid user;
    int context;
    GetUserIdAndSecContext(&user, &context);
    const int settings = NewGUCNestLevel();
    SetUserIdAndSecContext(owner, context | SECURITY_LOCAL_USERID_CHANGE |
                                      SECURITY_RESTRICTED_OPERATION | SECURITY_NOFORCE_RLS);
    (void)set_config_option("row_security", "off", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE,
                            true, 0, false);
    if (SPI_execute(statement, false, 0) < 0) elog(ERROR, "could not execute: %s", statement);
    const char* value = nullptr;
    if (SPI_tuptable != nullptr && SPI_processed > 0)
        value = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
    if (value != nullptr) value = MemoryContextStrdup(caller, value);
    AtEOXact_GUC(false, settings);
    SetUserIdAndSecContext(user, context);
    SPI_finish();
    if (value == nullptr) PG_RETURN_NULL();
    return CStringGetTextDatum(value);
}
