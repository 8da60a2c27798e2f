// The SQL functions that seal and unseal IDs. A session keeps the keys that it has read from the
// table snowdrift_tables.seal_key until the table changes. The functions that change it are in SQL.
#include "snowdrift/seal.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "pg/support/datum.hpp"
#include "pg/support/extension.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/relcache_callback.hpp"
#include "pg/support/scan.hpp"
#include "pg/support/tables.hpp"
#include "pg/support/trigger.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/pg_list.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/uuid.h"
}

using namespace snowdrift;

namespace {

enum Column { name_column = 1, version_column, id_column, key_column };

/// The seals of one key of a name.
struct VersionedSeal {
    int32 version;
    std::array<uint8_t, UUID_LEN> id;
    Seal seal;
};

/// The seals of a name, the newest first.
struct Seals {
    Seals* next;
    char name[Seal::max_name_size];
    size_t name_size;
    List* versions;  // of VersionedSeal
};

Oid table_oid = InvalidOid;
MemoryContext context = nullptr;
Seals* loaded = nullptr;  // in `context`
bool is_outdated = false;

void note_change(Oid relation) {
    if (relation == table_oid || !OidIsValid(relation)) is_outdated = true;
}

std::string_view view_of(const text* value) {
    return {VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value)};
}

[[noreturn]] void report_undefined(std::string_view name) {
    ereport(ERROR,
            (errcode(ERRCODE_UNDEFINED_OBJECT),
             errmsg("seal \"%.*s\" does not exist", static_cast<int>(name.size()), name.data()),
             errhint("Check the name. If its keys were lost, restore them from a backup; "
                     "otherwise, call snowdrift.create_seal().")));
}

/// Opens and locks the table. From then on, note_change() is called when it changes.
Relation open_table() {
    add_relcache_callback(note_change);
    Relation table = extension::open_relation("seal_key", AccessShareLock);
    constexpr Oid types[] = {TEXTOID, INT4OID, UUIDOID, BYTEAOID};
    if (table == nullptr || !has_columns(RelationGetDescr(table), types))
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("table \"snowdrift_tables.seal_key\" is missing or was altered")));
    table_oid = RelationGetRelid(table);
    return table;
}

/// The newest first. Two can have the same version: one of them was replicated.
int compare_age(const ListCell* a, const ListCell* b) {
    const auto& first = *static_cast<const VersionedSeal*>(lfirst(a));
    const auto& second = *static_cast<const VersionedSeal*>(lfirst(b));
    if (first.version != second.version) return first.version < second.version ? 1 : -1;
    return first.id < second.id ? 1 : -1;
}

/// Reads the keys of a name. Raises 42704 if there are none.
pg_noinline Seals* load(std::string_view name) {
    if (!Seal::is_name(name)) report_undefined(name);
    if (context == nullptr)
        context = AllocSetContextCreate(TopMemoryContext, "snowdrift seals", ALLOCSET_SMALL_SIZES);
    Relation table = open_table();
    if (is_outdated) {
        loaded = nullptr;
        MemoryContextReset(context);
        is_outdated = false;
    }
    MemoryContext caller = MemoryContextSwitchTo(context);
    List* versions = NIL;
    (void)find_tuple(table, nullptr, InvalidOid, {}, [&](HeapTuple row) {
        if (view_of(DatumGetTextPP(*get_column(table, row, name_column))) != name) return false;
        const bytea* const bytes = DatumGetByteaPP(*get_column(table, row, key_column));
        Seal::Key key;
        if (VARSIZE_ANY_EXHDR(bytes) != key.size())
            ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
                            errmsg("invalid key in table \"snowdrift_tables.seal_key\"")));
        std::memcpy(key.data(), VARDATA_ANY(bytes), key.size());
        const int32 version = DatumGetInt32(*get_column(table, row, version_column));
        const auto& id = get_id<std::array<uint8_t, UUID_LEN>>(*get_column(table, row, id_column));
        versions = lappend(versions, allocate(VersionedSeal{version, id, Seal{key, name}}));
        return false;
    });
    MemoryContextSwitchTo(caller);
    table_close(table, AccessShareLock);
    if (versions == NIL) report_undefined(name);
    list_sort(versions, compare_age);
    auto* const seals = static_cast<Seals*>(MemoryContextAllocZero(context, sizeof(Seals)));
    std::copy(name.begin(), name.end(), seals->name);
    seals->name_size = name.size();
    seals->versions = versions;
    seals->next = loaded;
    return loaded = seals;
}

/// The seals of the name in argument 1. Raises 42704 if there are none.
const Seals& get_seals(FunctionCallInfo fcinfo) {
    const std::string_view name = view_of(PG_GETARG_TEXT_PP(1));
    AcceptInvalidationMessages();  // a transaction that is open sees that a key was dropped
    if (!is_outdated)
        for (const Seals* seals = loaded; seals != nullptr; seals = seals->next)
            if (std::string_view{seals->name, seals->name_size} == name) return *seals;
    return *load(name);
}

}  // namespace

/// snowflake_seal(bigint, name text) → uuid
SNOWDRIFT_FUNCTION(snowflake_seal) {
    const auto* const newest = static_cast<VersionedSeal*>(linitial(get_seals(fcinfo).versions));
    return make_datum(newest->seal.seal(PG_GETARG_INT64(0)));
}

/// snowflake_unseal(uuid, name text, invalid_ok boolean) → bigint
SNOWDRIFT_FUNCTION(snowflake_unseal) {
    const Seals& seals = get_seals(fcinfo);
    ListCell* cell;
    foreach (cell, seals.versions) {
        const auto* const each = static_cast<VersionedSeal*>(lfirst(cell));
        if (const auto id = each->seal.unseal(get_argument<Seal::Uuid>(fcinfo, 0)))
            PG_RETURN_INT64(*id);
    }
    if (PG_GETARG_BOOL(2)) PG_RETURN_NULL();
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("invalid sealed ID for \"%.*s\"", static_cast<int>(seals.name_size),
                           seals.name),
                    errdetail("The UUID was not made with a key of this seal.")));
}

/// Trigger of snowdrift_tables.seal_key: all sessions read the keys again.
SNOWDRIFT_FUNCTION(seal_keys_changed) {
    CacheInvalidateRelcache(
        check_trigger(fcinfo, "seal_key", TRIGGER_EVENT_ROW | TRIGGER_EVENT_AFTER).tg_relation);
    PG_RETURN_POINTER(nullptr);
}
