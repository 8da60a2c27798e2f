#include "pg/definitions.hpp"

#include <cstring>

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"
}

#include "pg/snowflake_layout.hpp"

namespace snowdrift::definitions {

uint64_t version = 1;

namespace {

/// The columns of snowdrift.generator, in their order.
enum Column : AttrNumber {
    name = 1,
    id,
    kind,
    layout,
    datacenter,
    worker,
    partition,
    sequence_min,
    sequence_max,
};

Oid table_oid = InvalidOid;

void forget(Datum, Oid relation) {
    if (relation == table_oid || !OidIsValid(relation)) ++version;
}

Relation open_table() {
    static bool is_watched = false;
    if (!is_watched) {
        CacheRegisterRelcacheCallback(forget, Datum{0});
        is_watched = true;
    }
    table_oid = definitions::table();
    return table_open(table_oid, AccessShareLock);
}

/// Lock a generator until the transaction ends, whatever becomes of the subtransaction.
void lock(uint32_t id, LOCKMODE mode) {
    auto* const owner = CurrentResourceOwner;
    CurrentResourceOwner = TopTransactionResourceOwner;
    LockRelationOid(table_oid, AccessShareLock);
    LockDatabaseObject(table_oid, id, 0, mode);
    CurrentResourceOwner = owner;
}

/// Reads columns of a row.
class Row {
 public:
    Row(Relation table, HeapTuple tuple) : table_{table}, tuple_{tuple} {}

    std::optional<Datum> get(Column column) const {
        bool is_null;
        const Datum value = heap_getattr(tuple_, column, RelationGetDescr(table_), &is_null);
        if (is_null) return std::nullopt;
        return value;
    }

    std::optional<uint32_t> get_number(Column column) const {
        const auto value = get(column);
        if (!value) return std::nullopt;
        return static_cast<uint32_t>(DatumGetInt32(*value));
    }

    bool has_text(Column column, const char* wanted) const {
        const auto value = get(column);
        return value && std::strcmp(TextDatumGetCString(*value), wanted) == 0;
    }

 private:
    Relation table_;
    HeapTuple tuple_;
};

Definition definition_from(const Row& row) {
    Definition definition{};
    definition.id = row.get_number(id).value_or(0);
    definition.kind = row.has_text(kind, "sno") ? GeneratorKind::sno : GeneratorKind::snowflake;
    definition.sequence_min = row.get_number(sequence_min).value_or(0);
    definition.sequence_max = row.get_number(sequence_max).value_or(0);
    if (const auto own = row.get_number(partition)) definition.partition = *own;
    if (const auto value = row.get(layout)) definition.layout = get_layout(*value);
    const auto own_datacenter = row.get_number(datacenter);
    const auto own_worker = row.get_number(worker);
    if (own_datacenter || own_worker)
        definition.node =
            own_datacenter.value_or(0) << definition.layout.worker_bits | own_worker.value_or(0);
    return definition;
}

/// The first definition of which `is_wanted(row)` holds, of those that `snapshot` sees; null is the
/// present.
template <typename Predicate>
std::optional<Definition> find_row(Snapshot snapshot, Predicate is_wanted) {
    std::optional<Definition> found;
    Relation table = open_table();
    SysScanDesc scan = systable_beginscan(table, InvalidOid, false, snapshot, 0, nullptr);
    for (HeapTuple tuple = systable_getnext(scan); HeapTupleIsValid(tuple) && !found;
         tuple = systable_getnext(scan)) {
        const Row row{table, tuple};
        if (is_wanted(row)) found = definition_from(row);
    }
    systable_endscan(scan);
    table_close(table, AccessShareLock);
    return found;
}

/// The definition of that name, once its generator is locked: until then it may be another one's.
Definition find_and_lock(const char* wanted, LOCKMODE mode) {
    for (;;) {
        const Definition found = find(wanted);
        lock(found.id, mode);
        if (find(wanted).id == found.id) return found;
    }
}

}  // namespace

void check_bounds(int64_t sequence_min, int64_t sequence_max) {
    constexpr int min_pool = 4;
    if (sequence_max - sequence_min + 1 >= min_pool) return;
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("sequence from %lld to %lld is too narrow",
                    static_cast<long long>(sequence_min), static_cast<long long>(sequence_max)),
             errdetail("A generator needs at least %d numbers.", min_pool)));
}

std::optional<Definition> look_up(const char* wanted) {
    return find_row(nullptr, [&](const Row& row) { return row.has_text(name, wanted); });
}

Definition find(const char* wanted) {
    const auto found = look_up(wanted);
    if (!found)
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
                        errmsg("ID generator \"%s\" does not exist", wanted)));
    return *found;
}

void share(uint32_t id) { lock(id, AccessShareLock); }

Definition hold(const char* wanted) { return find_and_lock(wanted, AccessShareLock); }

void seize(const char* wanted) { (void)find_and_lock(wanted, AccessExclusiveLock); }

Oid table() {
    const Oid oid = get_relname_relid("generator", get_namespace_oid("snowdrift", false));
    if (!OidIsValid(oid))
        ereport(ERROR,
                (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("table snowdrift.generator is missing"),
                 errhint("Drop extension snowdrift and create it again.")));
    return oid;
}

bool exists(uint32_t wanted) {
    SnapshotData dirty;
    InitDirtySnapshot(dirty);
    return find_row(&dirty, [&](const Row& row) { return row.get_number(id) == wanted; })
        .has_value();
}

}  // namespace snowdrift::definitions
