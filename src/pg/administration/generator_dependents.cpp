#include "pg/administration/generator_dependents.hpp"

#include <cstring>

#include "pg/support/extension.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/scan.hpp"

extern "C" {
#include "catalog/objectaddress.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
}

namespace snowdrift {
namespace {

/// C symbols of the functions that take a generator's name, which is their only text argument.
constexpr const char* symbols[] = {
    "snowdrift_next_snowflake_of",      "snowdrift_next_snowflakes_of", "snowdrift_snowflake_at_of",
    "snowdrift_snowflake_watermark_of", "snowdrift_next_sno_of",        "snowdrift_sno_at_of",
    "snowdrift_generator_layout",       "snowdrift_hold_row",
};

/// A function, and the generator that calls of it may name.
struct Call {
    Oid function;
    const char* generator;
};

/// An argument of a call, if it is a constant and not null; otherwise null.
const Const* constant_of(const Node* argument) {
    if (IsA(argument, NamedArgExpr))
        argument =
            reinterpret_cast<const Node*>(reinterpret_cast<const NamedArgExpr*>(argument)->arg);
    if (IsA(argument, RelabelType))  // such as varchar
        argument =
            reinterpret_cast<const Node*>(reinterpret_cast<const RelabelType*>(argument)->arg);
    if (!IsA(argument, Const) || reinterpret_cast<const Const*>(argument)->constisnull)
        return nullptr;
    return reinterpret_cast<const Const*>(argument);
}

/// Whether an argument of a function is the constant text `wanted`.
bool is_text(const Node* argument, const char* wanted) {
    const Const* const constant = constant_of(argument);
    return constant != nullptr &&
           (constant->consttype == TEXTOID || constant->consttype == VARCHAROID) &&
           std::strcmp(TextDatumGetCString(constant->constvalue), wanted) == 0;
}

/// Whether an expression contains the call; `context` points to it.
bool contains_call(Node* node, void* context) {
    if (node == nullptr) return false;
    const auto& wanted = *static_cast<const Call*>(context);
    if (IsA(node, FuncExpr)) {
        const auto* const call = reinterpret_cast<const FuncExpr*>(node);
        if (call->funcid == wanted.function) {
            ListCell* cell;
            foreach (cell, call->args)
                if (is_text(static_cast<const Node*>(lfirst(cell)), wanted.generator)) return true;
        }
    }
    return walk_expression(node, contains_call, context);
}

/// Whether an expression, as catalogs store it, contains the call.
bool contains_call(const std::optional<Datum>& stored, Call call) {
    return stored &&
           contains_call(static_cast<Node*>(stringToNode(TextDatumGetCString(*stored))), &call);
}

/// Whether the first argument of a trigger is `wanted`. Its arguments are bytes that end with 0.
bool has_argument(const std::optional<Datum>& stored, const char* wanted) {
    if (!stored) return false;
    const bytea* const bytes = DatumGetByteaPP(*stored);
    const auto size = VARSIZE_ANY_EXHDR(bytes);
    return size > std::strlen(wanted) && std::strcmp(VARDATA_ANY(bytes), wanted) == 0;
}

/// Whether an object of a catalog, whose column `oid_column` is its OID, names the call's
/// generator.
template <typename Names>
bool object_names(Oid catalog, Oid index, AttrNumber oid_column, Oid object, AttrNumber column,
                  Names names) {
    Relation table = table_open(catalog, AccessShareLock);
    const bool found =
        find_tuple(table, nullptr, index, {{oid_column, ObjectIdGetDatum(object)}},
                   [&](HeapTuple tuple) { return names(get_column(table, tuple, column)); });
    table_close(table, AccessShareLock);
    return found;
}

/// Whether an object that depends on the function is a default, or a watch, that names the
/// generator.
bool depends_on_generator(const FormData_pg_depend* dependency, const Call& call) {
    const auto has_call = [&](const auto& stored) { return contains_call(stored, call); };
    switch (dependency->classid) {
        case AttrDefaultRelationId:
            return object_names(AttrDefaultRelationId, AttrDefaultOidIndexId, Anum_pg_attrdef_oid,
                                dependency->objid, Anum_pg_attrdef_adbin, has_call);
        case TypeRelationId:
            return object_names(TypeRelationId, TypeOidIndexId, Anum_pg_type_oid, dependency->objid,
                                Anum_pg_type_typdefaultbin, has_call);
        case TriggerRelationId:
            return object_names(TriggerRelationId, TriggerOidIndexId, Anum_pg_trigger_oid,
                                dependency->objid, Anum_pg_trigger_tgargs, [&](const auto& stored) {
                                    return has_argument(stored, call.generator);
                                });
        default:
            return false;
    }
}

/// The dependents that were found, one a line.
struct Dependents {
    static constexpr int max_shown = 100;  // as in errors of DROP

    const char* generator;
    StringInfoData lines;
    int count = 0;

    void add(const FormData_pg_depend* dependency) {
        if (count++ >= max_shown) return;
        const ObjectAddress object{dependency->classid, dependency->objid, dependency->objsubid};
        const char* const shown = getObjectDescription(&object, true);
        if (shown == nullptr) return;  // dropped meanwhile
        appendStringInfo(&lines, "%s%s depends on ID generator \"%s\"", lines.len > 0 ? "\n" : "",
                         shown, generator);
    }
};

/// Add the objects that call one function with the generator.
void find_dependents(const Call& call, Dependents& dependents) {
    (void)find_tuple(DependRelationId, DependReferenceIndexId,
                     {{Anum_pg_depend_refclassid, ObjectIdGetDatum(ProcedureRelationId)},
                      {Anum_pg_depend_refobjid, ObjectIdGetDatum(call.function)}},
                     [&](HeapTuple tuple) {
                         const auto dependency = reinterpret_cast<Form_pg_depend>(GETSTRUCT(tuple));
                         if (depends_on_generator(dependency, call)) dependents.add(dependency);
                         return false;
                     });
}

}  // namespace

void check_no_dependents(const char* name) {
    Dependents dependents{name, {}};
    initStringInfo(&dependents.lines);
    for (const char* symbol : symbols)
        find_dependents({extension::find_function(symbol), name}, dependents);
    if (dependents.count == 0) return;
    if (dependents.count > Dependents::max_shown)
        appendStringInfo(&dependents.lines, "\nand %d other objects",
                         dependents.count - Dependents::max_shown);
    ereport(ERROR,
            (errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
             errmsg("cannot drop ID generator \"%s\" because other objects depend on it", name),
             errdetail("%s", dependents.lines.data),
             errhint("Change these objects first, or drop the generator with force => true to keep "
                     "them. They then raise an error when used.")));
}

}  // namespace snowdrift
