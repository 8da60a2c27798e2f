#include "pg/generators/definitions.hpp"

#include <algorithm>
#include <cstring>

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "commands/sequence.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
}

#include "pg/durability/mark.hpp"
#include "pg/generators/advance_state.hpp"
#include "pg/generators/backfill.hpp"
#include "pg/generators/definition_table.hpp"
#include "pg/generators/generator_lock.hpp"
#include "pg/generators/slot_release.hpp"
#include "pg/support/citus.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/datum.hpp"
#include "pg/support/extension.hpp"
#include "pg/support/insert_row.hpp"
#include "pg/support/time.hpp"
#include "pg/types/snowflake_layout_type.hpp"

namespace snowdrift::definitions {

namespace {

/// The generator named `wanted`. Raises 42704 if there is none.
GeneratorId find(const char* wanted) {
    GeneratorId found{};
    Relation table = open_table();
    const bool exists = find_row(table, nullptr, [&](const Row& row) {
        if (!row.has_text(name, wanted)) return false;
        found = row.generator();
        return true;
    });
    table_close(table, AccessShareLock);
    if (!exists) report_undefined(wanted);
    return found;
}

/// The same, and locks the generator exclusively.
GeneratorId find_and_lock_exclusively(const char* wanted) {
    for (;;) {
        const GeneratorId found = find(wanted);
        generator_lock::lock_exclusively(found);
        if (find(wanted) == found) return found;  // else, another generator has the name by now
    }
}

/// Calls visit(Slot&, allocation) for each slot of the generator.
template <typename Visit>
void visit_slots(const GeneratorId& generator, Visit visit) {
    for (const slots::Allocated& each : slots::list())
        if (each.key.database == MyDatabaseId && !each.key.is_default() &&
            GeneratorId{each.key.definitions, each.key.id} == generator)
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
    for (;;) {
        const GeneratorId found = find(wanted);
        generator_lock::share(found);
        // Another generator may have the name by now.
        const auto definition = lookup(wanted);
        if (definition && definition->generator() == found) return *definition;
    }
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
                        errmsg("sequence \"snowdrift_tables.generator_id\" does not exist"),
                        errhint("Undo the change, or drop the extension and create it again.")));
    // The sequence may return an id that is taken, because replication can set it back.
    uint32_t next;
    do {
        next = static_cast<uint32_t>(nextval_internal(sequence, false));
    } while (exists({extension::find_relation("generator"), next}));
    return next;
}

void lock_exclusively(Relation table, HeapTuple tuple) {
    const GeneratorId changed = Row{table, tuple}.generator();
    generator_lock::lock_exclusively(changed);
    visit_slots(changed, advance_on_change);
}

void report_undefined(const char* wanted) {
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
                    errmsg("ID generator \"%s\" does not exist", wanted),
                    citus::read_membership().has_citus
                        ? errhint("Create it on all nodes of the Citus cluster with "
                                  "run_command_on_all_nodes().")
                        : 0));
}

void report_dropped(const char* dropped) {
    ereport(ERROR,
            (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("ID generator \"%s\" was dropped", dropped),
             errdetail("Another session has created the extension again."),
             errhint("Repeat the transaction.")));
}

void insert(const char* new_name, const Definition& definition) {
    check_name(new_name);
    Relation table = open_table(RowExclusiveLock);
    generator_lock::lock_name(RelationGetRelid(table), new_name);
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
    generator_lock::lock_name(RelationGetRelid(table),
                              wanted);  // two sessions may restore the same snapshot
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
    const GeneratorId dropped = find_and_lock_exclusively(wanted);
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
    mark::require_structure();  // another structure has another floor of fresh states
    CacheInvalidateRelcache(table);
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
