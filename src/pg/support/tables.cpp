#include "pg/support/tables.hpp"

namespace snowdrift {

bool has_columns(TupleDesc table, std::span<const Oid> types) {
    if (table->natts < static_cast<int>(types.size())) return false;
    for (size_t i = 0; i < types.size(); ++i)
        if (TupleDescAttr(table, static_cast<int>(i))->atttypid != types[i]) return false;
    return true;
}

}  // namespace snowdrift
