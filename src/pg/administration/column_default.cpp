#include "pg/administration/column_default.hpp"

#include "pg/support/extension.hpp"

extern "C" {
#include "access/tupdesc.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
}

namespace snowdrift {
namespace {

// C symbols of next_snowflake() and next_snowflake(text).
constexpr const char* next_snowflake_symbol = "snowdrift_next_snowflake";
constexpr const char* next_snowflake_of_symbol = "snowdrift_next_snowflake_of";

/// The function that a column's default calls.
struct DefaultCall {
    Oid function;
    const Const* argument;  // the only argument, if it is a constant and not null; otherwise null

    /// Whether the function is next_snowflake() or next_snowflake(text).
    bool is_next_snowflake() const {
        return extension::is_ours(function, next_snowflake_symbol) ||
               extension::is_ours(function, next_snowflake_of_symbol);
    }
};

/// The only argument of a call, if it is a constant and not null; otherwise null.
const Const* constant_argument(const FuncExpr* call) {
    if (list_length(call->args) != 1) return nullptr;
    return constant_of(static_cast<const Node*>(linitial(call->args)));
}

/// The expression of a column's default or of a generated column; null if there is none.
Node* read_expression(Relation table, AttrNumber column) {
    Assert(CheckRelationLockedByMe(table, AccessShareLock, true));
    const TupleConstr* const constraints = RelationGetDescr(table)->constr;
    if (constraints == nullptr) return nullptr;
    for (int i = 0; i < constraints->num_defval; ++i)
        if (constraints->defval[i].adnum == column)
            return static_cast<Node*>(stringToNode(constraints->defval[i].adbin));
    return nullptr;
}

/// The function call of a default, without the casts of its result to the column's type; nothing if
/// the default is another expression.
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

}  // namespace

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

std::optional<GeneratorCall> generator_call_of(Relation table, AttrNumber column) {
    const Node* expression = read_expression(table, column);
    if (expression == nullptr && AttrNumberIsForUserDefinedAttr(column))  // that of a domain
        expression = get_typdefault(TupleDescAttr(RelationGetDescr(table), column - 1)->atttypid);
    const auto call = expression == nullptr ? std::nullopt : call_of(expression);
    if (!call || !call->is_next_snowflake()) return std::nullopt;
    if (extension::is_ours(call->function, next_snowflake_symbol))
        return GeneratorCall{true, nullptr};
    if (call->argument == nullptr) return std::nullopt;
    return GeneratorCall{false, TextDatumGetCString(call->argument->constvalue)};
}

}  // namespace snowdrift
