#include "pg/support/tables.hpp"

extern "C" {
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "executor/spi.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace snowdrift {

Oid owner_of(Oid relation) {
    check_exists(relation);
    HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
    const Oid owner = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple))->relowner;
    ReleaseSysCache(tuple);
    return owner;
}

void check_exists(Oid relation) {
    if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relation)))
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
                        errmsg("relation with OID %u does not exist", relation)));
}

void check_owner(Oid relation) {
    check_exists(relation);
    if (!object_ownercheck(RelationRelationId, relation, GetUserId()))
        aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(get_rel_relkind(relation)),
                       get_rel_name(relation));
}

bool has_columns(TupleDesc table, std::span<const Oid> types) {
    if (table->natts < static_cast<int>(types.size())) return false;
    for (size_t i = 0; i < types.size(); ++i)
        if (TupleDescAttr(table, static_cast<int>(i))->atttypid != types[i]) return false;
    return true;
}

void execute(const char* statement) {
    if (SPI_execute(statement, false, 0) < 0) elog(ERROR, "could not execute: %s", statement);
}

OwnerContext::OwnerContext(Oid relation) {
    const Oid owner = owner_of(relation);
    Assert(object_ownercheck(RelationRelationId, relation, GetUserId()));
    GetUserIdAndSecContext(&user_, &context_);
    settings_ = NewGUCNestLevel();
    SetUserIdAndSecContext(owner, context_ | SECURITY_LOCAL_USERID_CHANGE |
                                      SECURITY_RESTRICTED_OPERATION | SECURITY_NOFORCE_RLS);
}

void OwnerContext::restore() const {
    AtEOXact_GUC(false, settings_);
    SetUserIdAndSecContext(user_, context_);
}

}  // namespace snowdrift
