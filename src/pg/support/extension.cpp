#include "pg/support/extension.hpp"

#include <cstring>

#include "pg/support/scan.hpp"

extern "C" {
#include "access/relation.h"
#include "catalog/dependency.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "commands/extension.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace snowdrift::extension {
namespace {

/// The extension's member function with the C symbol `symbol`; InvalidOid if there is none.
Oid find_member(Oid extension, const char* symbol) {
    Oid function = InvalidOid;
    (void)find_tuple(DependRelationId, DependReferenceIndexId,
                     {{Anum_pg_depend_refclassid, ObjectIdGetDatum(ExtensionRelationId)},
                      {Anum_pg_depend_refobjid, ObjectIdGetDatum(extension)}},
                     [&](HeapTuple tuple) {
                         const auto* const member =
                             reinterpret_cast<Form_pg_depend>(GETSTRUCT(tuple));
                         const bool is_function = member->classid == ProcedureRelationId &&
                                                  member->deptype == DEPENDENCY_EXTENSION;
                         if (!is_function || !is_ours(member->objid, symbol)) return false;
                         function = member->objid;
                         return true;
                     });
    return function;
}

/// Ensure that the schema of the tables has the name that the script gives it. Otherwise, a dump
/// contains the rows of tables in a schema that CREATE EXTENSION does not create.
void check_name(Oid schema) {
    const char* const name = get_namespace_name(schema);
    if (name == nullptr || std::strcmp(name, "snowdrift_tables") == 0) return;
    // Scripts before version 1.0 create the tables, with other columns, in this schema.
    if (std::strcmp(name, "snowdrift") == 0)
        ereport(ERROR,
                (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                 errmsg("SQL objects of extension \"snowdrift\" are older than version 1.0"),
                 errdetail("The library of this version does not generate IDs with them."),
                 errhint("Move the data to a new database, as \"From a version before 1.0\" in "
                         "docs/upgrade.md describes.")));
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("schema \"snowdrift_tables\" was renamed to \"%s\"", name),
             errdetail("A dump of this database could not be restored."),
             errhint("Run ALTER SCHEMA %s RENAME TO snowdrift_tables.", quote_identifier(name))));
}

}  // namespace

Oid find_relation(const char* name) {
    // The extension is not relocatable, so a schema of its own can be renamed but not replaced.
    static Oid known_extension = InvalidOid;
    static Oid schema = InvalidOid;
    const Oid extension = get_extension_oid("snowdrift", true);
    if (!OidIsValid(extension)) return InvalidOid;
    if (extension != known_extension || !OidIsValid(schema)) {
        known_extension = InvalidOid;
        schema = get_func_namespace(find_member(extension, "snowdrift_restore_mark"));
        known_extension = extension;
    }
    if (!OidIsValid(schema)) return InvalidOid;
    check_name(schema);
    return get_relname_relid(name, schema);
}

Relation open_relation(const char* name, LOCKMODE lock) {
    for (;;) {
        const Oid oid = find_relation(name);
        if (!OidIsValid(oid)) return nullptr;
        Relation relation = try_relation_open(oid, lock);
        if (relation == nullptr) continue;
        if (find_relation(name) == oid) return relation;
        relation_close(relation, lock);
    }
}

Oid find_function(const char* symbol) {
    const Oid extension = get_extension_oid("snowdrift", true);
    const Oid function = OidIsValid(extension) ? find_member(extension, symbol) : InvalidOid;
    if (!OidIsValid(function))
        ereport(ERROR,
                (errcode(ERRCODE_UNDEFINED_FUNCTION),
                 errmsg("extension \"snowdrift\" has no function with symbol \"%s\"", symbol)));
    return function;
}

bool is_ours(Oid function, const char* symbol) {
    HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
    if (tuple == nullptr) return false;
    const auto* const form = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple));
    bool found = false;
    if (form->prolang == ClanguageId && form->prokind == PROKIND_FUNCTION && !form->prosecdef) {
        bool is_null;
        const Datum source = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &is_null);
        found = !is_null && std::strcmp(TextDatumGetCString(source), symbol) == 0;
    }
    ReleaseSysCache(tuple);
    return found;
}

}  // namespace snowdrift::extension
