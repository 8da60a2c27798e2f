#include "pg/named/definitions.hpp"

#include <algorithm>
#include <cstring>

#include "pg/mark/mark.hpp"
#include "pg/named/definition_table.hpp"
#include "pg/node/citus.hpp"
#include "pg/states/advance_state.hpp"
#include "pg/states/slot_release.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/datum.hpp"
#include "pg/support/extension.hpp"
#include "pg/support/insert_row.hpp"
#include "pg/support/name_list.hpp"
#include "pg/support/time.hpp"
#include "pg/types/snowflake_layout_type.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "commands/sequence.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/varlena.h"
}

namespace snowdrift::definitions {

namespace {

/// The row of the generator `name`, as a copy in the current memory context; nothing if there is
/// none.
std::optional<Row> find(Relation table, const char* name) {
    std::optional<Row> found;
    (void)find_row(table, nullptr, [&](const Row& row) {
        if (!row.has_text(Column::name, name)) return false;
        found = read_row(table, heap_copytuple(row.tuple));
        return true;
    });
    return found;
}

std::optional<Row> find(const char* name) {
    Relation table = open_table();
    const auto found = find(table, name);
    table_close(table, AccessShareLock);
    return found;
}

/// The same, after `lock` has locked the generator. Raises 42704 if there is none.
Row find_locked(const char* name, void (*lock)(const GeneratorId&)) {
    GeneratorId locked{};
    for (;;) {
        const auto found = find(name);
        if (!found) report_undefined(name);
        if (found->generator() == locked) return *found;
        locked = found->generator();
        lock(locked);  // while this waits, another generator may get the name
    }
}

Definition read_definition(const Row& row) {
    const Definition definition = row.definition();
    check_bounds(definition);
    return definition;
}

/// Close the table, which the transaction has changed.
void close_changed(Relation table) {
    invalidate(table);
    table_close(table, NoLock);
    CommandCounterIncrement();
}

/// Calls change(slot, allocation) for each slot of the generator.
void change_slots(const GeneratorId& generator, void (*change)(slots::Slot&, uint64_t)) {
    for (const slots::Allocated& each : slots::list())
        if (each.key.database == MyDatabaseId && !each.key.is_default() &&
            GeneratorId{each.key.definitions, each.key.id} == generator)
            change(*each.slot, each.allocation);
}

/// The names that are most similar to `name`, as a list; null if no name is similar. A name is
/// similar if at most three characters, and at most half of them, differ.
const char* nearest_names(const char* name) {
    if (std::strlen(name) > max_name_length) return nullptr;
    const int length = static_cast<int>(std::strlen(name));
    int distance = std::min(3, length / 2);
    List* names = NIL;
    for_each_row([&](const Row& row) {
        const char* const other = TextDatumGetCString(*row[Column::name]);
        const int other_length = static_cast<int>(std::strlen(other));
        const int other_distance = varstr_levenshtein_less_equal(name, length, other, other_length,
                                                                 1, 1, 1, distance, true);
        if (other_distance > distance) return;
        if (other_distance < distance) names = NIL;
        distance = other_distance;
        names = lappend(names, const_cast<char*>(other));
    });
    return names != NIL ? quoted_list(names) : nullptr;
}

void check_name(const char* name) {
    if (*name == '\0' || std::strlen(name) > max_name_length)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_NAME), errmsg("invalid ID generator name: \"%s\"", name),
                 errdetail("A name must be 1 to %zu bytes long.", max_name_length)));
}

}  // namespace

void check_bounds(const Definition& definition) {
    const int64_t sequence_min = definition.sequence_min, sequence_max = definition.sequence_max;
    if (sequence_min > sequence_max)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("sequence_min %lld must not be greater than sequence_max %lld",
                               static_cast<long long>(sequence_min),
                               static_cast<long long>(sequence_max))));
    const int min_pool = definition.spread ? 32 : 4;  // two starts
    if (sequence_max - sequence_min + 1 >= min_pool) return;
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("sequence range %lld .. %lld is too narrow",
                    static_cast<long long>(sequence_min), static_cast<long long>(sequence_max)),
             errdetail("A generator needs at least 4 sequence numbers, and 32 to spread them.")));
}

void check_present(const Definition& definition) {
    if (definition.kind != slots::Kind::snowflake) return;
    const SnowflakeLayout& layout = definition.layout;
    const int64_t now = clock::now_ms();
    if (!layout.contains_time(time_of(layout.truncate(now))))
        report_not_present(layout, now, ERRCODE_INVALID_PARAMETER_VALUE);
}

void begin_after_others(const GeneratorId& generator) {
    (void)mark::attach();  // for the floor of fresh states
    change_slots(generator, advance_past_floor);
}

std::optional<Definition> lookup(const char* name) {
    const auto row = find(name);
    if (!row) return std::nullopt;
    return read_definition(*row);
}

Definition lock(const char* name) {
    return read_definition(find_locked(name, generator_lock::share));
}

uint32_t next_id() {
    const Oid sequence = extension::find_relation("generator_id");
    if (!OidIsValid(sequence))
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
                        errmsg("sequence \"snowdrift_tables.generator_id\" does not exist"),
                        errhint("Undo the change, or drop the extension and create it again.")));
    // The sequence may return an id that is taken, because replication can set it back.
    uint32_t next;
    do {
        next = static_cast<uint32_t>(nextval_internal(sequence, false));
    } while (exists({extension::find_relation("generator"), next}));
    return next;
}

void lock_exclusively(const char* name) {
    (void)find_locked(name, generator_lock::lock_exclusively);
}

void report_undefined(const char* name) {
    const char* const nearest = nearest_names(name);
    const char* const citus_hint =
        citus::read_membership().has_citus
            ? "Create the generator on all nodes of the Citus cluster with "
              "run_command_on_all_nodes()."
            : nullptr;
    const char* const hint = nearest == nullptr ? citus_hint
                             : citus_hint == nullptr
                                 ? psprintf("Perhaps you meant %s.", nearest)
                                 : psprintf("Perhaps you meant %s. %s", nearest, citus_hint);
    ereport(ERROR,
            (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("ID generator \"%s\" does not exist", name),
             hint != nullptr ? errhint("%s", hint) : 0));
}

void report_wrong_kind(const char* name, slots::Kind wanted) {
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                    errmsg("ID generator \"%s\" does not generate %s", name,
                           wanted == slots::Kind::sno ? "sno values" : "Snowflake IDs")));
}

void report_dropped(const char* name) {
    ereport(ERROR,
            (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("ID generator \"%s\" was dropped", name),
             errdetail("Another session has created the extension again."),
             errhint("Repeat the transaction.")));
}

void insert(const char* name, const Definition& definition) {
    Assert(definition.sequence_min < definition.sequence_max);
    check_name(name);
    Relation table = open_table(RowExclusiveLock);
    generator_lock::lock_name(RelationGetRelid(table), name);
    if (find(table, name))
        ereport(ERROR, (errcode(ERRCODE_DUPLICATE_OBJECT),
                        errmsg("ID generator \"%s\" already exists", name)));

    const bool is_sno = definition.kind == slots::Kind::sno;
    const auto number = [](std::optional<uint32_t> value) -> std::optional<Datum> {
        if (!value) return std::nullopt;
        return UInt32GetDatum(*value);
    };
    const uint32_t id = next_id();
    Row row{};
    row[Column::name] = CStringGetTextDatum(name);
    row[Column::id] = number(id);
    row[Column::kind] = CStringGetTextDatum(slots::name_of(definition.kind));
    row[Column::datacenter] = number(definition.datacenter);
    row[Column::worker] = number(definition.worker);
    row[Column::partition] = number(definition.partition);
    row[Column::sequence_min] = number(definition.sequence_min);
    row[Column::sequence_max] = number(definition.sequence_max);
    row[Column::this_node_only] = BoolGetDatum(definition.this_node_only);
    row[Column::spread] = BoolGetDatum(definition.spread);
    if (!is_sno) {
        row[Column::layout] = make_datum(definition.layout);
        // Read the clock after the id is assigned: snowdrift.reset_clock() limits the origins of
        // all generators with earlier ids.
        const int64_t origin_ms = definition.layout.truncate(clock::now_ms());
        row[Column::origin] = TimestampTzGetDatum(timestamp_from_unix_ms(origin_ms));
    }
    insert_row(table, row.columns);
    const GeneratorId inserted{RelationGetRelid(table), id};
    close_changed(table);
    begin_after_others(inserted);
}

void remove_origin(const char* name) {
    Relation table = open_table(RowExclusiveLock);
    // Two sessions may restore the same snapshot.
    generator_lock::lock_name(RelationGetRelid(table), name);
    const auto row = find(table, name);
    Assert(!row || generator_lock::is_locked(row->generator(), AccessShareLock));
    if (!row || !(*row)[Column::origin]) return table_close(table, NoLock);
    int column = static_cast<int>(Column::origin) + 1;
    Datum value{};
    bool is_null = true;
    HeapTuple changed = heap_modify_tuple_by_cols(row->tuple, RelationGetDescr(table), 1, &column,
                                                  &value, &is_null);
    CatalogTupleUpdate(table, &row->tuple->t_self, changed);
    close_changed(table);
}

GeneratorId remove(const char* name) {
    Relation table = open_table(RowExclusiveLock);
    const auto row = find(table, name);
    if (!row) report_undefined(name);
    const GeneratorId dropped = row->generator();
    Assert(generator_lock::is_locked(dropped, AccessExclusiveLock));
    CatalogTupleDelete(table, &row->tuple->t_self);
    close_changed(table);

    // The exclusive lock prevents other sessions from drawing.
    change_slots(dropped, release_on_commit);
    return dropped;
}

void check_unique_in_cluster(const char* name, const Definition& definition) {
    if (definition.this_node_only || definition.has_server_number()) return;
    if (!citus::read_membership().is_in_cluster()) return;
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("ID generator \"%s\" is not unique in a Citus cluster", name),
             definition.node()
                 ? errdetail("Its node is part of its definition, which is the same on all "
                             "nodes of the cluster.")
                 : errdetail("Its layout has no bits for a node."),
             errhint("Omit the node, or use a layout with datacenter or worker bits. If only this "
                     "node of the cluster generates IDs with it, create the generator with "
                     "this_node_only => true.")));
}

void invalidate(Relation table) {
    Assert(CheckRelationLockedByMe(table, RowExclusiveLock, true));
    (void)mark::attach();  // for the floor of fresh states
    mark::require_structure();
    CacheInvalidateRelcache(table);
    slots::map_chunks();
    (void)advance_fresh_floor();
}

bool exists(const GeneratorId& wanted) {
    Relation table = open_table();
    SnapshotData dirty;
    InitDirtySnapshot(dirty);
    const bool found =
        RelationGetRelid(table) == wanted.table &&
        find_row(table, &dirty, [&](const Row& row) { return row.generator() == wanted; });
    table_close(table, AccessShareLock);
    return found;
}

}  // namespace snowdrift::definitions
