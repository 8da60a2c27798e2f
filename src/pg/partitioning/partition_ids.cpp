#include "pg/partitioning/partition_ids.hpp"

#include "pg/support/datum.hpp"
#include "pg/support/extension.hpp"
#include "pg/support/time.hpp"
#include "pg/types/id_traits.hpp"
#include "pg/types/snowflake_layout_type.hpp"

extern "C" {
#include "catalog/pg_class.h"
#include "catalog/pg_type_d.h"
#include "nodes/parsenodes.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/rel.h"
}

namespace snowdrift {
namespace {

template <typename Id>
const char* quote(const Id& id) {
    char text[Id::text_size + 1];
    *id.format(text) = '\0';
    return psprintf("'%s'", text);
}

}  // namespace

PartitionIds::PartitionIds(Relation parent, const SnowflakeLayout& layout) : layout_{layout} {
    PartitionKeyData* const key = parent->rd_rel->relkind == RELKIND_PARTITIONED_TABLE
                                      ? RelationGetPartitionKey(parent)
                                      : nullptr;
    const bool is_one_range =
        key != nullptr && key->strategy == PARTITION_STRATEGY_RANGE && key->partnatts == 1;
    if (is_one_range && key->partattrs[0] != 0 && find_kind(getBaseType(key->parttypid[0]))) return;
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                    errmsg("table \"%s\" is not partitioned by a range of IDs",
                           RelationGetRelationName(parent)),
                    errhint("The partition key must be a single column of type bigint, ulid or "
                            "sno.")));
}

TimeRange PartitionIds::times() const {
    if (kind_ == Kind::snowflake) return times_of(layout_);
    return kind_ == Kind::ulid ? IdTraits<Ulid>::times : IdTraits<Sno>::times;
}

Datum PartitionIds::boundary(int64 unix_ms) const {
    if (kind_ == Kind::snowflake) return Int64GetDatum(layout_.boundary(unix_ms));
    if (kind_ == Kind::ulid) return make_datum(Ulid::boundary(unix_ms));
    return make_datum(Sno::boundary(unix_ms));
}

std::optional<TimestampTz> PartitionIds::time_of(Datum id) const {
    if (kind_ == Kind::ulid) return timestamp_from_unix_ms(get_id<Ulid>(id).timestamp_ms());
    if (kind_ == Kind::sno) return timestamp_from_unix_ms(get_id<Sno>(id).timestamp_ms());
    const int64 number = DatumGetInt64(id);
    if (!layout_.contains_id(number)) return std::nullopt;
    return timestamp_from_unix_ms(layout_.split(number).unix_ms);
}

bool PartitionIds::are_equal(Datum a, Datum b) const {
    if (kind_ == Kind::ulid) return get_id<Ulid>(a) == get_id<Ulid>(b);
    if (kind_ == Kind::sno) return get_id<Sno>(a) == get_id<Sno>(b);
    return DatumGetInt64(a) == DatumGetInt64(b);
}

const char* PartitionIds::literal(Datum id) const {
    if (kind_ == Kind::snowflake) return psprintf("'" INT64_FORMAT "'", DatumGetInt64(id));
    return kind_ == Kind::ulid ? quote(get_id<Ulid>(id)) : quote(get_id<Sno>(id));
}

bool PartitionIds::find_kind(Oid type) {
    if (type == INT8OID) {
        kind_ = Kind::snowflake;
        return true;
    }
    Oid input;
    Oid parameter;
    getTypeInputInfo(type, &input, &parameter);
    kind_ = extension::is_ours(input, "snowdrift_ulid_in") ? Kind::ulid : Kind::sno;
    return kind_ == Kind::ulid || extension::is_ours(input, "snowdrift_sno_in");
}

}  // namespace snowdrift
