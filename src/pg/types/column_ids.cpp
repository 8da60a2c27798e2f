#include "pg/types/column_ids.hpp"

#include "pg/support/extension.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "utils/lsyscache.h"
}

namespace snowdrift {

std::optional<ColumnIds> ColumnIds::of(Oid type) {
    const Oid base = getBaseType(type);
    if (base == INT8OID) return ColumnIds{Kind::snowflake, base};
    if (base == UUIDOID) return ColumnIds{Kind::uuidv7, base};
    Oid input;
    Oid parameter;
    getTypeInputInfo(base, &input, &parameter);
    if (extension::is_ours(input, "snowdrift_ulid_in")) return ColumnIds{Kind::ulid, base};
    if (extension::is_ours(input, "snowdrift_sno_in")) return ColumnIds{Kind::sno, base};
    return std::nullopt;
}

const char* ColumnIds::text(Datum id) const {
    Oid output;
    bool is_varlena;
    getTypeOutputInfo(type_, &output, &is_varlena);
    return OidOutputFunctionCall(output, id);
}

}  // namespace snowdrift
