#include "pg/types/column_ids.hpp"

#include <algorithm>
#include <cstring>

#include "pg/support/datum.hpp"
#include "pg/support/extension.hpp"
#include "pg/support/time.hpp"
#include "pg/types/id_traits.hpp"
#include "pg/types/snowflake_layout_type.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "utils/lsyscache.h"
}

namespace snowdrift {

/// The first bit of a Snowflake ID in a bigint, which IDs do not use but other keys may.
static constexpr uint64 sign_bit = uint64{1} << 63;

std::optional<ColumnIds> ColumnIds::of(Oid type, const SnowflakeLayout& layout) {
    const Oid base = getBaseType(type);
    if (base == INT8OID) return ColumnIds{Kind::snowflake, base, layout};
    if (base == UUIDOID) return ColumnIds{Kind::uuidv7, base, layout};
    Oid input;
    Oid parameter;
    getTypeInputInfo(base, &input, &parameter);
    if (extension::is_ours(input, "snowdrift_ulid_in")) return ColumnIds{Kind::ulid, base, layout};
    if (extension::is_ours(input, "snowdrift_sno_in")) return ColumnIds{Kind::sno, base, layout};
    return std::nullopt;
}

TimeRange ColumnIds::times() const {
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

int64 ColumnIds::certain_since_ms() const {
    if (kind_ != Kind::snowflake) return times().first_ms;
    const int shift = layout_.timestamp_shift();
    const uint64 units = ((uint64{1} << 32) + (uint64{1} << shift) - 1) >> shift;
    const TimeRange range = times();
    return std::min(
        {layout_.unix_ms_of(units), range.first_ms + int64{SECS_PER_DAY} * 1000, range.last_ms});
}

Datum ColumnIds::boundary(int64 unix_ms) const {
    Assert(unix_ms >= times().first_ms && unix_ms <= times().last_ms);
    const Time time = snowdrift::time_of(unix_ms);
    switch (kind_) {
        case Kind::snowflake:
            return Int64GetDatum(layout_.boundary(time));
        case Kind::ulid:
            return make_datum(Ulid::boundary(time));
        case Kind::sno:
            return make_datum(Sno::boundary(time));
        case Kind::uuidv7:
            return make_datum(Uuidv7::boundary(time));
    }
    pg_unreachable();
}

std::optional<TimestampTz> ColumnIds::time_of(Datum id) const {
    switch (kind_) {
        case Kind::snowflake: {
            const int64 number = DatumGetInt64(id);
            if (!layout_.contains_id(number)) return std::nullopt;
            return timestamp_from_unix_ms(unix_ms_of(layout_.split(number).time));
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

ColumnIds::SortKey ColumnIds::sort_key(Datum value) const {
    if (kind_ == Kind::snowflake) return {static_cast<uint64>(DatumGetInt64(value)) ^ sign_bit, 0};
    Ulid::Bytes bytes{};
    std::memcpy(bytes.data(), DatumGetPointer(value),
                kind_ == Kind::sno ? Sno::size : bytes.size());
    return {load_big_endian(bytes.data()), load_big_endian(bytes.data() + 8)};
}

Datum ColumnIds::value(const SortKey& key) const {
    if (kind_ == Kind::snowflake) return Int64GetDatum(static_cast<int64>(key.high ^ sign_bit));
    return make_datum(Ulid{key.high, key.low});  // begins with the sno, if it is one
}

const char* ColumnIds::text(Datum id) const {
    Oid output;
    bool is_varlena;
    getTypeOutputInfo(type_, &output, &is_varlena);
    return OidOutputFunctionCall(output, id);
}

}  // namespace snowdrift
