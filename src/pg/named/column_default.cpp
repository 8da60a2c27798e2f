#include "pg/named/column_default.hpp"

#include "pg/named/definitions.hpp"
#include "pg/support/extension.hpp"
#include "pg/types/snowflake_layout_type.hpp"

extern "C" {
#include "access/table.h"
#include "access/tupdesc.h"
#include "catalog/partition.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
}

namespace snowdrift {
namespace {

/// The only argument of a call, if it is a constant and not null; otherwise null.
const Const* constant_argument(const FuncExpr* call) {
    if (list_length(call->args) != 1) return nullptr;
    return constant_of(static_cast<const Node*>(linitial(call->args)));
}

const char* name_of(Relation table, AttrNumber column) {
    return get_attname(RelationGetRelid(table), column, false);
}

[[noreturn]] void report_unknown_layout(Relation table, AttrNumber column) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("layout of column \"%s\" of table \"%s\" is unknown",
                           name_of(table, column), RelationGetRelationName(table)),
                    errdetail("The column's default does not call a generator of Snowflake IDs."),
                    errhint("Specify the layout of the column's IDs.")));
}

/// The layout of the IDs that the default of a column draws.
struct DrawnLayout {
    const char* generator;  // null for the default generator
    SnowflakeLayout layout;
};

/// The layout that the default of a column determines; nothing if it determines none.
std::optional<DrawnLayout> drawn_layout(Relation table, AttrNumber column) {
    const auto generator = generator_of_column(table, column);
    if (!generator) return std::nullopt;
    if (*generator == nullptr) return DrawnLayout{nullptr, default_layout};
    const auto definition = definitions::lookup(*generator);
    if (!definition || definition->kind != slots::Kind::snowflake) return std::nullopt;
    return DrawnLayout{*generator, definition->layout};
}

/// Ensure that the generator that the default of a column calls exists, if it calls one.
void check_generator(Relation table, AttrNumber column) {
    const auto generator = generator_of_column(table, column);
    if (generator && *generator != nullptr && !definitions::lookup(*generator))
        definitions::report_undefined(*generator);
}

/// Ensure that the default of a column, which determines `drawn`, does not draw IDs of another
/// layout.
void check_same_layout(Relation table, AttrNumber column, const std::optional<DrawnLayout>& drawn,
                       const SnowflakeLayout& layout, const char* hint) {
    if (!drawn || drawn->layout == layout) return;
    const char* const actual = layout_text(drawn->layout);
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("layout \"%s\" is not the layout of column \"%s\" of table \"%s\"",
                    layout_text(layout), name_of(table, column), RelationGetRelationName(table)),
             drawn->generator == nullptr
                 ? errdetail("The column's default calls next_snowflake(), whose layout is \"%s\".",
                             actual)
                 : errdetail(
                       "The column's default draws from generator \"%s\", whose layout is \"%s\".",
                       drawn->generator, actual),
             errhint("%s", hint)));
}

/// The same for the columns of the tables of which `table` is a partition: rows that are inserted
/// into them have their defaults.
void check_ancestors(Relation table, AttrNumber column, const SnowflakeLayout& layout) {
    if (!table->rd_rel->relispartition) return;
    ListCell* cell;
    foreach (cell, get_partition_ancestors(RelationGetRelid(table))) {
        Relation ancestor = table_open(lfirst_oid(cell), AccessShareLock);
        const AttrNumber inherited = get_attnum(RelationGetRelid(ancestor), name_of(table, column));
        check_same_layout(ancestor, inherited, drawn_layout(ancestor, inherited), layout,
                          "Give this column and that of the partition the same default.");
        table_close(ancestor, AccessShareLock);
    }
}

}  // namespace

bool DefaultCall::is_next_snowflake() const {
    return extension::is_ours(function, next_snowflake_symbol) ||
           extension::is_ours(function, next_snowflake_of_symbol);
}

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

Node* read_expression(Relation table, AttrNumber column) {
    Assert(CheckRelationLockedByMe(table, AccessShareLock, true));
    const TupleConstr* const constraints = RelationGetDescr(table)->constr;
    if (constraints == nullptr) return nullptr;
    for (int i = 0; i < constraints->num_defval; ++i)
        if (constraints->defval[i].adnum == column)
            return static_cast<Node*>(stringToNode(constraints->defval[i].adbin));
    return nullptr;
}

std::optional<DefaultCall> call_of(const Node* expression) {
    for (;;) {
        if (IsA(expression, CoerceToDomain)) {
            expression = reinterpret_cast<const Node*>(
                reinterpret_cast<const CoerceToDomain*>(expression)->arg);
            continue;
        }
        if (!IsA(expression, FuncExpr)) return std::nullopt;
        const auto* const call = reinterpret_cast<const FuncExpr*>(expression);
        if (call->funcformat == COERCE_EXPLICIT_CALL)
            return DefaultCall{call->funcid, constant_argument(call)};
        if (call->funcformat == COERCE_SQL_SYNTAX) return std::nullopt;  // may have no arguments
        expression = static_cast<const Node*>(linitial(call->args));
    }
}

std::optional<const char*> generator_of_column(Relation table, AttrNumber column) {
    const Node* expression = read_expression(table, column);
    if (expression == nullptr && AttrNumberIsForUserDefinedAttr(column))  // that of a domain
        expression = get_typdefault(TupleDescAttr(RelationGetDescr(table), column - 1)->atttypid);
    const auto call = expression == nullptr ? std::nullopt : call_of(expression);
    if (!call || !call->is_next_snowflake()) return std::nullopt;
    if (extension::is_ours(call->function, next_snowflake_symbol)) return nullptr;
    if (call->argument == nullptr) return std::nullopt;
    return TextDatumGetCString(call->argument->constvalue);
}

std::optional<SnowflakeLayout> layout_of_default(Relation table, AttrNumber column) {
    if (const auto drawn = drawn_layout(table, column)) return drawn->layout;
    check_generator(table, column);
    return std::nullopt;
}

SnowflakeLayout layout_of_column(Relation table, AttrNumber column, const SnowflakeLayout* stated) {
    const auto drawn = drawn_layout(table, column);
    if (stated != nullptr) {
        check_same_layout(table, column, drawn, *stated, "Omit the layout.");
    } else if (!drawn) {
        check_generator(table, column);
        report_unknown_layout(table, column);
    }
    const SnowflakeLayout layout = stated != nullptr ? *stated : drawn->layout;
    check_ancestors(table, column, layout);
    return layout;
}

}  // namespace snowdrift
