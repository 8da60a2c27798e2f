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
                    errhint("The partition key must be a single column of type bigint, ulid, sno "
                            "or uuid.")));
}

TimeRange PartitionIds::times() const {
    switch (kind_) {
        case Kind::snowflake:
            return times_of(layout_);
        case Kind::ulid:
            return IdTraits<Ulid>::times;
        case Kind::sno:
            return IdTraits<Sno>::times;
        case Kind::uuidv7:
            return IdTraits<Uuidv7>::times;
    }
    pg_unreachable();
}

Datum PartitionIds::boundary(int64 unix_ms) const {
    switch (kind_) {
        case Kind::snowflake:
            return Int64GetDatum(layout_.boundary(unix_ms));
        case Kind::ulid:
            return make_datum(Ulid::boundary(unix_ms));
        case Kind::sno:
            return make_datum(Sno::boundary(unix_ms));
        case Kind::uuidv7:
            return make_datum(Uuidv7::boundary(unix_ms));
    }
    pg_unreachable();
}

std::optional<TimestampTz> PartitionIds::time_of(Datum id) const {
    switch (kind_) {
        case Kind::snowflake: {
            const int64 number = DatumGetInt64(id);
            if (!layout_.contains_id(number)) return std::nullopt;
            return timestamp_from_unix_ms(layout_.split(number).unix_ms);
        }
        case Kind::ulid:
            return timestamp_from_unix_ms(get_id<Ulid>(id).timestamp_ms());
        case Kind::sno:
            return timestamp_from_unix_ms(get_id<Sno>(id).timestamp_ms());
        case Kind::uuidv7:
            if (!Uuidv7::is_version_7(get_id<Uuidv7::Bytes>(id))) return std::nullopt;
            return timestamp_from_unix_ms(get_id<Uuidv7>(id).timestamp_ms());
    }
    pg_unreachable();
}

bool PartitionIds::are_equal(Datum a, Datum b) const {
    switch (kind_) {
        case Kind::snowflake:
            return DatumGetInt64(a) == DatumGetInt64(b);
        case Kind::ulid:
            return get_id<Ulid>(a) == get_id<Ulid>(b);
        case Kind::sno:
            return get_id<Sno>(a) == get_id<Sno>(b);
        case Kind::uuidv7:
            return get_id<Uuidv7::Bytes>(a) == get_id<Uuidv7::Bytes>(b);
    }
    pg_unreachable();
}

const char* PartitionIds::literal(Datum id) const {
    switch (kind_) {
        case Kind::snowflake:
            return psprintf("'" INT64_FORMAT "'", DatumGetInt64(id));
        case Kind::ulid:
            return quote(get_id<Ulid>(id));
        case Kind::sno:
            return quote(get_id<Sno>(id));
        case Kind::uuidv7:
            return quote(get_id<Uuidv7>(id));
    }
    pg_unreachable();
}

bool PartitionIds::find_kind(Oid type) {
    if (type == INT8OID || type == UUIDOID) {
        kind_ = type == INT8OID ? Kind::snowflake : Kind::uuidv7;
        return true;
    }
    Oid input;
    Oid parameter;
    getTypeInputInfo(type, &input, &parameter);
    kind_ = extension::is_ours(input, "snowdrift_ulid_in") ? Kind::ulid : Kind::sno;
    return kind_ == Kind::ulid || extension::is_ours(input, "snowdrift_sno_in");
}

}  // namespace snowdrift
