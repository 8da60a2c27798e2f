// Walking the tree of an expression
#pragma once

#include "pg/support/postgres.hpp"

extern "C" {
#include "nodes/nodeFuncs.h"
}

namespace snowdrift {

/// Calls `walker` for each child of a node, or for each element of a list, until it returns true.
/// Returns whether it did. This is PostgreSQL's expression_tree_walker(). Before PostgreSQL 16, C++
/// reads its declaration as that of a function without arguments.
inline bool walk_expression(Node* node, bool (*walker)(Node*, void*), void* context) {
#if PG_VERSION_NUM >= 160000
    return expression_tree_walker(node, walker, context);
#else
    auto* const function = reinterpret_cast<void (*)()>(walker);
    return expression_tree_walker(node, reinterpret_cast<bool (*)()>(function), context);
#endif
}

}  // namespace snowdrift
