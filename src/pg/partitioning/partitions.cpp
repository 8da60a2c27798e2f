// Partitions by time of tables that are partitioned by ranges of IDs: creating and listing them.
#include <algorithm>
#include <cstring>
#include <optional>

#include "pg/support/checks.hpp"
#include "pg/support/datum.hpp"
#include "pg/support/extension.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/time.hpp"
#include "pg/types/id_traits.hpp"
#include "pg/types/snowflake_layout_type.hpp"

extern "C" {
#include "access/table.h"
#include "catalog/objectaddress.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "commands/defrem.h"
#include "commands/tablespace.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "nodes/parsenodes.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/rangetypes.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
}

using namespace snowdrift;

namespace {

/// Whether the role may do what a relation's owner may.
bool is_owner_of_relation(Oid relation, Oid role) {
#if PG_VERSION_NUM >= 160000
    return object_ownercheck(RelationRelationId, relation, role);
#else
    return pg_class_ownercheck(relation, role);
#endif
}

/// The range between two bounds.
RangeType* make_range_of(TypeCacheEntry* type, RangeBound* lower, RangeBound* upper) {
#if PG_VERSION_NUM >= 160000
    return make_range(type, lower, upper, false, nullptr);
#else
    return make_range(type, lower, upper, false);
#endif
}

/// What a partition key's IDs are.
class Format {
 public:
    /// The format of the parent's partition key. Raises 42809 if that is not one of IDs.
    Format(Relation parent, const SnowflakeLayout& layout) : layout_{layout} {
        PartitionKeyData* const key = parent->rd_rel->relkind == RELKIND_PARTITIONED_TABLE
                                          ? RelationGetPartitionKey(parent)
                                          : nullptr;
        const bool is_one_range =
            key != nullptr && key->strategy == PARTITION_STRATEGY_RANGE && key->partnatts == 1;
        if (is_one_range && key->partattrs[0] != 0 && find_kind(getBaseType(key->parttypid[0])))
            return;
        ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                        errmsg("table \"%s\" is not partitioned by a range of IDs",
                               RelationGetRelationName(parent)),
                        errhint("The partition key must be a single column of type bigint, ulid or "
                                "sno.")));
    }

    /// The times that the IDs carry.
    TimeRange times() const {
        if (kind_ == Kind::snowflake) return times_of(layout_);
        return kind_ == Kind::ulid ? IdTraits<Ulid>::times : IdTraits<Sno>::times;
    }

    /// The smallest ID of the Unix millisecond, which is one of times().
    Datum boundary(int64 unix_ms) const {
        if (kind_ == Kind::snowflake) return Int64GetDatum(layout_.boundary(unix_ms));
        if (kind_ == Kind::ulid) return make_datum(Ulid::boundary(unix_ms));
        return make_datum(Sno::boundary(unix_ms));
    }

    /// The time of an ID, or nullopt if the value is not a valid ID.
    std::optional<TimestampTz> time_of(Datum id) const {
        if (kind_ == Kind::ulid) return timestamp_from_unix_ms(get_id<Ulid>(id).timestamp_ms());
        if (kind_ == Kind::sno) return timestamp_from_unix_ms(get_id<Sno>(id).timestamp_ms());
        const int64 number = DatumGetInt64(id);
        if (!layout_.contains_id(number)) return std::nullopt;
        return timestamp_from_unix_ms(layout_.split(number).unix_ms);
    }

    bool are_equal(Datum a, Datum b) const {
        if (kind_ == Kind::ulid) return get_id<Ulid>(a) == get_id<Ulid>(b);
        if (kind_ == Kind::sno) return get_id<Sno>(a) == get_id<Sno>(b);
        return DatumGetInt64(a) == DatumGetInt64(b);
    }

    /// An ID as a literal of SQL.
    const char* literal(Datum id) const {
        if (kind_ == Kind::snowflake) return psprintf("'" INT64_FORMAT "'", DatumGetInt64(id));
        return kind_ == Kind::ulid ? quote(get_id<Ulid>(id)) : quote(get_id<Sno>(id));
    }

 private:
    enum class Kind { snowflake, ulid, sno };

    bool find_kind(Oid type) {
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

    template <typename Id>
    static const char* quote(const Id& id) {
        char text[Id::text_size + 1];
        *id.format(text) = '\0';
        return psprintf("'%s'", text);
    }

    Kind kind_ = Kind::snowflake;
    SnowflakeLayout layout_;
};

/// An end of a partition; nothing where it has none: MINVALUE, MAXVALUE.
using Bound = std::optional<Datum>;

struct Partition {
    Oid oid;
    bool is_default;
    Bound from;
    Bound to;
};

Bound bound_of(const List* datums) {
    const auto* const bound = static_cast<PartitionRangeDatum*>(linitial(datums));
    if (bound->kind != PARTITION_RANGE_DATUM_VALUE) return std::nullopt;
    return reinterpret_cast<const Const*>(bound->value)->constvalue;
}

/// A partition; nothing if it was dropped or detached meanwhile.
std::optional<Partition> partition_of(Oid oid) {
    HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(oid));
    if (!HeapTupleIsValid(tuple)) return std::nullopt;
    bool is_null;
    const Datum stored = SysCacheGetAttr(RELOID, tuple, Anum_pg_class_relpartbound, &is_null);
    if (is_null) {
        ReleaseSysCache(tuple);
        return std::nullopt;
    }
    const auto* const bounds =
        static_cast<PartitionBoundSpec*>(stringToNode(TextDatumGetCString(stored)));
    ReleaseSysCache(tuple);
    if (bounds->is_default) return Partition{oid, true, {}, {}};
    return Partition{oid, false, bound_of(bounds->lowerdatums), bound_of(bounds->upperdatums)};
}

/// Calls visit(Partition) with each partition of a table. Locks none of them: anybody may look.
template <typename Visit>
void for_each_partition(Oid parent, Visit visit) {
    List* const children = find_inheritance_children(parent, NoLock);
    ListCell* cell;
    foreach (cell, children)
        if (const auto partition = partition_of(lfirst_oid(cell))) visit(*partition);
}

/// Steps of time in UTC: months from January of the year 0, so that three months are a quarter, or
/// microseconds from a Monday, so that seven days are a week.
class Step {
 public:
    explicit Step(const Interval& step) {
        int64 days_us;
        const bool is_sum = !__builtin_mul_overflow(int64{step.day}, USECS_PER_DAY, &days_us) &&
                            !__builtin_add_overflow(days_us, step.time, &us_);
        months_ = step.month;
        const bool is_months = months_ > 0 && us_ == 0;
        const bool is_minutes = months_ == 0 && us_ > 0 && us_ % USECS_PER_MINUTE == 0;
        if (is_sum && (is_months || is_minutes)) return;
        const Datum shown = DirectFunctionCall1(interval_out, IntervalPGetDatum(&step));
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("invalid partition step: \"%s\"", DatumGetCString(shown)),
                 errhint("The step must be a positive whole number of months, or of minutes, "
                         "hours or days.")));
    }

    /// Where the step that a time is in begins.
    TimestampTz begin_of(TimestampTz time) const {
        if (months_ > 0) {
            const pg_tm fields = fields_of(time);
            const int64 month = int64{12} * fields.tm_year + fields.tm_mon - 1;
            return time_of_month(month - month % months_);
        }
        constexpr TimestampTz monday = 366 * USECS_PER_DAY;  // 2001-01-01
        const int64 rest = (time - monday) % us_;
        return time - rest - (rest < 0 ? us_ : 0);
    }

    /// Where the step after the one that begins at `begin` begins; DT_NOEND where PostgreSQL has no
    /// such time.
    TimestampTz next(TimestampTz begin) const {
        if (months_ > 0) {
            const pg_tm fields = fields_of(begin);
            return time_of_month(int64{12} * fields.tm_year + fields.tm_mon - 1 + months_);
        }
        TimestampTz end;
        if (__builtin_add_overflow(begin, us_, &end) || !IS_VALID_TIMESTAMP(end)) return DT_NOEND;
        return end;
    }

    /// The name of the step that begins then, as the end of a partition's name.
    const char* suffix(TimestampTz begin) const {
        const pg_tm fields = fields_of(begin);
        const char* const month = psprintf("%04d_%02d", fields.tm_year, fields.tm_mon);
        if (months_ > 0) return month;
        const char* const day = psprintf("%s_%02d", month, fields.tm_mday);
        if (us_ % USECS_PER_DAY == 0) return day;
        return psprintf("%s_%02d%02d", day, fields.tm_hour, fields.tm_min);
    }

 private:
    static pg_tm fields_of(TimestampTz time) {
        pg_tm fields{};
        fsec_t fraction;
        if (timestamp2tm(time, nullptr, &fields, &fraction, nullptr, nullptr) != 0)
            elog(ERROR, "timestamp out of range");
        return fields;
    }

    static TimestampTz time_of_month(int64 month) {
        if (month / 12 > JULIAN_MAXYEAR) return DT_NOEND;
        pg_tm fields{};
        fields.tm_year = static_cast<int>(month / 12);
        fields.tm_mon = static_cast<int>(month % 12) + 1;
        fields.tm_mday = 1;
        TimestampTz time;
        return tm2timestamp(&fields, 0, nullptr, &time) == 0 ? time : DT_NOEND;
    }

    int64 us_ = 0;
    int64 months_ = 0;
};

/// Ensure that a regclass is still one.
void check_exists(Oid relation) {
    if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relation)))
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
                        errmsg("relation with OID %u does not exist", relation)));
}

/// What the statements say of the parent.
struct Parent {
    Oid schema;
    const char* schema_name;
    const char* name;
    const char* qualified_name;
    const char* options;  ///< access method and tablespace
};

Parent describe(Relation parent) {
    StringInfoData options;
    initStringInfo(&options);
    if (OidIsValid(parent->rd_rel->relam))
        appendStringInfo(&options, " USING %s",
                         quote_identifier(get_am_name(parent->rd_rel->relam)));
    if (OidIsValid(parent->rd_rel->reltablespace))
        appendStringInfo(&options, " TABLESPACE %s",
                         quote_identifier(get_tablespace_name(parent->rd_rel->reltablespace)));
    const Oid schema = RelationGetNamespace(parent);
    const char* const schema_name = get_namespace_name(schema);
    const char* const name = pstrdup(RelationGetRelationName(parent));
    return {schema, schema_name, name, quote_qualified_identifier(schema_name, name), options.data};
}

void execute(const char* statement) {
    if (SPI_execute(statement, false, 0) < 0) elog(ERROR, "could not execute: %s", statement);
}

/// Create a partition as a separate table and then attach it, so that readers and writers are not
/// blocked.
Oid create(const Parent& parent, const char* suffix, const char* from, const char* to) {
    const char* const name = psprintf("%s_%s", parent.name, suffix);
    if (std::strlen(name) >= NAMEDATALEN)
        ereport(ERROR, (errcode(ERRCODE_NAME_TOO_LONG),
                        errmsg("partition name \"%s\" is too long", name)));
    const char* const qualified_name = quote_qualified_identifier(parent.schema_name, name);
    execute(
        psprintf("CREATE TABLE %s (LIKE %s INCLUDING ALL EXCLUDING COMMENTS EXCLUDING IDENTITY"
                 " EXCLUDING INDEXES EXCLUDING STATISTICS)%s",
                 qualified_name, parent.qualified_name, parent.options));
    execute(psprintf("ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%s) TO (%s)",
                     parent.qualified_name, qualified_name, from, to));
    return get_relname_relid(name, parent.schema);
}

bool exists(Oid parent, const Format& format, Datum from, const Bound& to) {
    bool found = false;
    for_each_partition(parent, [&](const Partition& other) {
        if (other.is_default || !other.from || other.to.has_value() != to.has_value()) return;
        found |= format.are_equal(*other.from, from) && (!to || format.are_equal(*other.to, *to));
    });
    return found;
}

}  // namespace

/// snowdrift.create_partitions(parent regclass, step interval, first timestamptz, last timestamptz,
/// layout snowflake_layout) → setof regclass
SNOWDRIFT_FUNCTION(create_partitions) {
    const Oid parent_oid = PG_GETARG_OID(0);
    const Step step{*PG_GETARG_INTERVAL_P(1)};
    const TimestampTz first = PG_GETARG_TIMESTAMPTZ(2);
    const TimestampTz last = PG_GETARG_TIMESTAMPTZ(3);
    const SnowflakeLayout& layout = get_layout(PG_GETARG_DATUM(4));
    PreventCommandIfReadOnly("snowdrift.create_partitions()");

    check_exists(parent_oid);
    if (!is_owner_of_relation(parent_oid, GetUserId()))
        aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, get_rel_name(parent_oid));
    // Others who create or detach partitions wait; readers and writers don't.
    Relation relation = table_open(parent_oid, ShareUpdateExclusiveLock);
    const Format format{relation, layout};
    const Parent parent = describe(relation);
    table_close(relation, NoLock);

    const TimeRange times = format.times();
    (void)check_time(times, first, unix_ms_floor(first));
    (void)check_time(times, last, unix_ms_floor(last));
    InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
    auto* const result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
    SPI_connect();
    for (TimestampTz begin = step.begin_of(first); begin <= last;) {
        CHECK_FOR_INTERRUPTS();
        const TimestampTz end = step.next(begin);
        // The steps that contain a format's first and last times may extend beyond them.
        const Datum from = format.boundary(std::max<int64>(unix_ms_floor(begin), times.first_ms));
        const bool is_last = end == DT_NOEND || unix_ms_floor(end) > times.last_ms;
        const Bound to = is_last ? Bound{} : format.boundary(unix_ms_floor(end));
        if (!exists(parent_oid, format, from, to)) {
            const Oid created = create(parent, step.suffix(begin), format.literal(from),
                                       to ? format.literal(*to) : "MAXVALUE");
            Datum value = ObjectIdGetDatum(created);
            bool is_null = false;
            tuplestore_putvalues(result->setResult, result->setDesc, &value, &is_null);
        }
        begin = end;
    }
    SPI_finish();
    return Datum{0};
}

/// snowdrift.partitions(parent regclass, layout snowflake_layout) → setof (partition regclass,
/// times tstzrange)
SNOWDRIFT_FUNCTION(partitions) {
    const Oid parent_oid = PG_GETARG_OID(0);
    check_exists(parent_oid);
    Relation relation = table_open(parent_oid, AccessShareLock);
    const Format format{relation, get_layout(PG_GETARG_DATUM(1))};
    table_close(relation, AccessShareLock);

    InitMaterializedSRF(fcinfo, 0);
    auto* const result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
    TypeCacheEntry* const range_type = lookup_type_cache(TSTZRANGEOID, TYPECACHE_RANGE_INFO);
    for_each_partition(parent_oid, [&](const Partition& partition) {
        std::optional<TimestampTz> from;
        std::optional<TimestampTz> to;
        if (partition.from) from = format.time_of(*partition.from);
        if (partition.to) to = format.time_of(*partition.to);
        const bool is_known = !partition.is_default &&
                              partition.from.has_value() == from.has_value() &&
                              partition.to.has_value() == to.has_value();
        Datum values[2] = {ObjectIdGetDatum(partition.oid)};
        bool is_null[2] = {false, !is_known};
        if (is_known) {
            RangeBound lower{TimestampTzGetDatum(from.value_or(0)), !from, true, true};
            RangeBound upper{TimestampTzGetDatum(to.value_or(0)), !to, false, false};
            values[1] = RangeTypePGetDatum(make_range_of(range_type, &lower, &upper));
        }
        tuplestore_putvalues(result->setResult, result->setDesc, values, is_null);
    });
    return Datum{0};
}
