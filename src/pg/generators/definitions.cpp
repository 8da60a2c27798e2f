#include "pg/generators/definitions.hpp"

#include <algorithm>
#include <cstring>

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_class.h"
#include "commands/sequence.h"
#include "common/hashfn.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/rel.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"
}

#include "pg/durability/mark.hpp"
#include "pg/generators/backfill.hpp"
#include "pg/generators/copied_server.hpp"
#include "pg/generators/slot_release.hpp"
#include "pg/support/checks.hpp"
#include "pg/support/citus.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/datum.hpp"
#include "pg/support/extension.hpp"
#include "pg/support/insert_row.hpp"
#include "pg/support/relcache_callback.hpp"
#include "pg/support/time.hpp"
#include "pg/types/snowflake_layout_type.hpp"

namespace snowdrift::definitions {

uint64_t version = 1;

namespace {

/// The columns of snowdrift.generator, in order.
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
    this_node_only,
    origin,
};
constexpr int column_count = origin;

Oid table_oid = InvalidOid;

void on_invalidation(Oid relation) {
    if (relation == table_oid || !OidIsValid(relation)) ++version;
}

Relation open_table(LOCKMODE lock = AccessShareLock) {
    add_relcache_callback(on_invalidation);
    Relation table = extension::open_relation("generator", lock);
    if (table == nullptr)
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
                        errmsg("table \"snowdrift.generator\" does not exist"),
                        errhint("Undo the change, or drop the extension and create it again.")));
    if (table->rd_rel->relkind != RELKIND_RELATION || table->rd_rel->relam != HEAP_TABLE_AM_OID)
        ereport(ERROR,
                (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                 errmsg("table \"snowdrift.generator\" was altered"), errhint("Undo the change.")));
    table_oid = RelationGetRelid(table);
    return table;
}

/// Lock a generator until the transaction ends. A rollback of the subtransaction keeps the lock.
void lock_in_mode(Oid table, uint32_t generator, LOCKMODE mode) {
    auto* const owner = CurrentResourceOwner;
    CurrentResourceOwner = TopTransactionResourceOwner;
    LockRelationOid(table, AccessShareLock);
    LockDatabaseObject(table, generator, 0, mode);
    CurrentResourceOwner = owner;
}

/// Lock a name until this transaction ends, so that only one transaction at a time can create a
/// generator of that name.
void lock_name(Oid table, const char* wanted) {
    constexpr uint16 name_locks = 1;  // lock_in_mode() uses 0
    const uint32 hash = hash_bytes(reinterpret_cast<const unsigned char*>(wanted),
                                   static_cast<int>(std::strlen(wanted)));
    LockDatabaseObject(table, hash, name_locks, ShareUpdateExclusiveLock);
}

/// A row of snowdrift.generator.
class Row {
 public:
    Row(Relation table, HeapTuple tuple) : table_{table}, tuple_{tuple} {}

    /// The value of a column; nothing if it is null.
    std::optional<Datum> get(Column column) const {
        bool is_null;
        const Datum value = heap_getattr(tuple_, column, RelationGetDescr(table_), &is_null);
        if (is_null) return std::nullopt;
        return value;
    }

    /// An integer column; 0 if it is null.
    int32 get_number(Column column) const { return DatumGetInt32(get(column).value_or(Datum{0})); }

    /// An integer column; nothing if it is null. Raises 22003 if it is not in 0 .. max.
    std::optional<uint32_t> get_field(Column column, const char* field, uint32_t max) const {
        const auto value = get(column);
        if (!value) return std::nullopt;
        return check_field(field, DatumGetInt32(*value), max);
    }

    bool has_text(Column column, const char* wanted) const {
        const auto value = get(column);
        return value && std::strcmp(TextDatumGetCString(*value), wanted) == 0;
    }

    bool is_uncommitted() const {
        return TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple_->t_data));
    }

    HeapTuple tuple() const { return tuple_; }

    /// The definition. Raises 22003 or 22023 if it is invalid, which is possible only for a row
    /// inserted by hand.
    Definition definition() const {
        Definition read{};
        read.table = RelationGetRelid(table_);
        read.id = static_cast<uint32_t>(get_number(id));
        read.is_uncommitted = is_uncommitted();
        uint32_t max_sequence = UINT16_MAX;
        if (has_text(kind, "sno")) {
            read.kind = GeneratorKind::sno;
            read.partition = get_field(partition, "partition", UINT16_MAX);
        } else {
            read.kind = GeneratorKind::snowflake;
            const auto own_layout = get(layout);
            read.layout = own_layout ? get_layout(*own_layout) : default_layout;
            read.datacenter = get_field(datacenter, "datacenter", read.layout.max_datacenter());
            read.worker = get_field(worker, "worker", read.layout.max_worker());
            max_sequence = read.layout.max_sequence();
        }
        read.sequence_min = *get_field(sequence_min, "sequence_min", max_sequence);
        read.sequence_max = *get_field(sequence_max, "sequence_max", max_sequence);
        check_bounds(read.sequence_min, read.sequence_max);
        read.this_node_only = DatumGetBool(get(this_node_only).value_or(BoolGetDatum(false)));
        if (const auto time = get(origin))
            read.origin_ms = unix_ms_ceil(DatumGetTimestampTz(*time));
        return read;
    }

 private:
    Relation table_;
    HeapTuple tuple_;
};

/// Calls visit(Row) for each row visible to `snapshot` (null: a current catalog snapshot) until it
/// returns true. Returns whether a call returned true.
template <typename Visit>
bool find_row(Relation table, Snapshot snapshot, Visit visit) {
    bool found = false;
    SysScanDesc scan = systable_beginscan(table, InvalidOid, false, snapshot, 0, nullptr);
    for (HeapTuple tuple = systable_getnext(scan); HeapTupleIsValid(tuple) && !found;
         tuple = systable_getnext(scan))
        found = visit(Row{table, tuple});
    systable_endscan(scan);
    return found;
}

/// The table and the id of a generator. They are readable even if its definition is invalid.
struct Identity {
    Oid table;
    uint32_t id;

    friend bool operator==(const Identity&, const Identity&) = default;
};

/// The identity of the generator named `wanted`. Raises 42704 if there is none.
Identity find_identity(const char* wanted) {
    Identity found{};
    Relation table = open_table();
    const bool exists = find_row(table, nullptr, [&](const Row& row) {
        if (!row.has_text(name, wanted)) return false;
        found = {RelationGetRelid(table), static_cast<uint32_t>(row.get_number(id))};
        return true;
    });
    table_close(table, AccessShareLock);
    if (!exists) report_undefined(wanted);
    return found;
}

/// The same, and locks the generator. Retries if another generator gets the name before the lock is
/// acquired.
Identity find_and_lock(const char* wanted, LOCKMODE mode) {
    for (;;) {
        const Identity found = find_identity(wanted);
        lock_in_mode(found.table, found.id, mode);
        if (find_identity(wanted) == found) return found;
    }
}

/// Calls visit(Slot&, allocation) for each slot of the generator.
template <typename Visit>
void visit_slots(const Identity& generator, Visit visit) {
    slots::require_structure();
    for (const slots::Allocated& each : slots::list())
        if (each.key.database == MyDatabaseId && !each.key.is_default() &&
            Identity{each.key.definitions, each.key.id} == generator)
            visit(*each.slot, each.allocation);
}

void check_name(const char* new_name) {
    if (*new_name == '\0' || std::strlen(new_name) > max_name_length)
        ereport(ERROR, (errcode(ERRCODE_INVALID_NAME),
                        errmsg("invalid ID generator name: \"%s\"", new_name),
                        errdetail("A name must be 1 to %zu bytes long.", max_name_length)));
}

}  // namespace

void check_bounds(int64_t sequence_min, int64_t sequence_max) {
    constexpr int min_pool = 4;
    if (sequence_max - sequence_min + 1 >= min_pool) return;
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("sequence range %lld .. %lld is too narrow",
                    static_cast<long long>(sequence_min), static_cast<long long>(sequence_max)),
             errdetail("A generator needs at least %d sequence numbers.", min_pool)));
}

std::optional<Definition> lookup(const char* wanted) {
    std::optional<Definition> found;
    Relation table = open_table();
    (void)find_row(table, nullptr, [&](const Row& row) {
        if (!row.has_text(name, wanted)) return false;
        found = row.definition();
        return true;
    });
    table_close(table, AccessShareLock);
    return found;
}

Definition lock(const char* wanted) {
    (void)find_and_lock(wanted, AccessShareLock);
    const auto found = lookup(wanted);
    if (!found) report_undefined(wanted);
    return *found;
}

uint32_t last_id() {
    uint32_t last = 0;
    Relation table = open_table();
    (void)find_row(table, nullptr, [&](const Row& row) {
        last = std::max(last, static_cast<uint32_t>(row.get_number(id)));
        return false;
    });
    table_close(table, AccessShareLock);
    return last;
}

std::optional<int64_t> latest_origin(uint32_t after) {
    std::optional<int64_t> latest;
    Relation table = open_table();
    (void)find_row(table, nullptr, [&](const Row& row) {
        const auto time = row.get(origin);
        if (time && static_cast<uint32_t>(row.get_number(id)) > after)
            latest = std::max(latest, std::optional{unix_ms_ceil(DatumGetTimestampTz(*time))});
        return false;
    });
    table_close(table, AccessShareLock);
    return latest;
}

uint32_t next_id() {
    const Oid sequence = extension::find_relation("generator_id");
    if (!OidIsValid(sequence))
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
                        errmsg("sequence \"snowdrift.generator_id\" does not exist"),
                        errhint("Undo the change, or drop the extension and create it again.")));
    // The sequence may return an id that is taken, because replication can set it back.
    uint32_t next;
    do {
        next = static_cast<uint32_t>(nextval_internal(sequence, false));
    } while (exists(extension::find_relation("generator"), next));
    return next;
}

void lock_exclusively(Relation table, HeapTuple tuple) {
    const Identity changed{RelationGetRelid(table),
                           static_cast<uint32_t>(Row{table, tuple}.get_number(id))};
    lock_in_mode(changed.table, changed.id, AccessExclusiveLock);
    visit_slots(changed, advance_on_change);
}

void lock(Oid table, uint32_t generator) { lock_in_mode(table, generator, AccessShareLock); }

void report_undefined(const char* wanted) {
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
                    errmsg("ID generator \"%s\" does not exist", wanted),
                    citus::read_membership().has_citus
                        ? errhint("Create it on all nodes of the Citus cluster with "
                                  "run_command_on_all_nodes().")
                        : 0));
}

void insert(const char* new_name, const Definition& definition) {
    check_name(new_name);
    own_mark();  // on a copy, records the source before it has new generators
    Relation table = open_table(RowExclusiveLock);
    lock_name(RelationGetRelid(table), new_name);
    const bool is_taken =
        find_row(table, nullptr, [&](const Row& row) { return row.has_text(name, new_name); });
    if (is_taken)
        ereport(ERROR, (errcode(ERRCODE_DUPLICATE_OBJECT),
                        errmsg("ID generator \"%s\" already exists", new_name)));

    const bool is_sno = definition.kind == GeneratorKind::sno;
    const auto number = [](std::optional<uint32_t> value) -> std::optional<Datum> {
        if (!value) return std::nullopt;
        return Int32GetDatum(static_cast<int32>(*value));
    };
    std::optional<Datum> row[column_count];
    row[name - 1] = CStringGetTextDatum(new_name);
    const uint32_t new_id = next_id();
    // The id may be that of a deleted generator, if the sequence was set back.
    visit_slots({RelationGetRelid(table), new_id}, advance_on_change);
    row[id - 1] = number(new_id);
    row[kind - 1] = CStringGetTextDatum(is_sno ? "sno" : "snowflake");
    if (!is_sno) row[layout - 1] = make_datum(definition.layout);
    row[datacenter - 1] = number(definition.datacenter);
    row[worker - 1] = number(definition.worker);
    row[partition - 1] = number(definition.partition);
    row[sequence_min - 1] = number(definition.sequence_min);
    row[sequence_max - 1] = number(definition.sequence_max);
    row[this_node_only - 1] = BoolGetDatum(definition.this_node_only);
    // After the id: mark::reset() limits the origins of all generators with earlier ids.
    const int64_t origin_ms = definition.layout.truncate(clock::now_ms());
    if (!is_sno) row[origin - 1] = TimestampTzGetDatum(timestamp_from_unix_ms(origin_ms));
    insert_row(table, row);
    invalidate(table);
    advance_changed();
    table_close(table, NoLock);
    CommandCounterIncrement();
}

void remove_origin(const char* wanted) {
    Relation table = open_table(RowExclusiveLock);
    lock_name(RelationGetRelid(table), wanted);  // two sessions may restore the same snapshot
    const bool is_changed = find_row(table, nullptr, [&](const Row& row) {
        if (!row.has_text(name, wanted) || !row.get(origin)) return false;
        int column = origin;
        Datum value{};
        bool is_null = true;
        HeapTuple changed = heap_modify_tuple_by_cols(row.tuple(), RelationGetDescr(table), 1,
                                                      &column, &value, &is_null);
        CatalogTupleUpdate(table, &row.tuple()->t_self, changed);
        return true;
    });
    if (is_changed) invalidate(table);
    table_close(table, NoLock);
    CommandCounterIncrement();
}

void remove(const char* wanted) {
    const Identity dropped = find_and_lock(wanted, AccessExclusiveLock);
    Relation table = open_table(RowExclusiveLock);
    const bool found = find_row(table, nullptr, [&](const Row& row) {
        if (!row.has_text(name, wanted)) return false;
        CatalogTupleDelete(table, &row.tuple()->t_self);
        return true;
    });
    if (!found) report_undefined(wanted);
    invalidate(table);
    table_close(table, NoLock);
    CommandCounterIncrement();
    backfill::remove(dropped.id);

    // The exclusive lock prevents other sessions from drawing.
    visit_slots(dropped, release_on_commit);
}

void invalidate(Relation table) {
    slots::require_structure();  // a retired structure has another floor of fresh states
    CacheInvalidateRelcache(table);
    (void)mark::advance_fresh_floor();
}

bool exists(Oid wanted_table, uint32_t wanted) {
    Relation table = open_table();
    SnapshotData dirty;
    InitDirtySnapshot(dirty);
    const bool found =
        RelationGetRelid(table) == wanted_table && find_row(table, &dirty, [&](const Row& row) {
            return static_cast<uint32_t>(row.get_number(id)) == wanted;
        });
    table_close(table, AccessShareLock);
    return found;
}

}  // namespace snowdrift::definitions
