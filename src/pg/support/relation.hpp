// Checks of relations that are arguments of SQL functions, and their names in statements.
#pragma once

#include "pg/support/postgres.hpp"

extern "C" {
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace snowdrift {

/// Ensures that a relation exists. Raises 42P01.
inline void check_exists(Oid relation) {
    if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relation)))
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
                        errmsg("relation with OID %u does not exist", relation)));
}

/// Ensures that a relation exists, and that the current role has the privileges of its owner.
/// Raises 42P01 and 42501.
inline void check_owner(Oid relation) {
    check_exists(relation);
#if PG_VERSION_NUM >= 160000
    const bool is_owner = object_ownercheck(RelationRelationId, relation, GetUserId());
#else
    const bool is_owner = pg_class_ownercheck(relation, GetUserId());
#endif
    if (!is_owner) aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, get_rel_name(relation));
}

/// The name of a relation in an SQL statement, with its schema. Precondition: the relation is
/// locked.
inline const char* qualified_name(Oid relation) {
    return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)),
                                      get_rel_name(relation));
}

}  // namespace snowdrift
