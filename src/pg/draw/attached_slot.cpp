#include "pg/draw/attached_slot.hpp"

#include "pg/named/definitions.hpp"

namespace snowdrift {
namespace {

/// Whether the key has no slot and its database has the maximum number of named generators.
bool is_limit_reached(const slots::SlotKey& key) {
    if (key.is_default()) return false;
    const slots::Occupancy present = slots::occupancy(key);
    return !present.has_slot && present.named_in_database >= slots::max_named_generators;
}

/// Release the slots of this database's generators that no longer exist. Keep those of generators
/// that this transaction has dropped, because a rollback restores them, and of those that other
/// transactions have drawn from, which can belong to an extension that was dropped since.
void release_dropped_generators() {
    const auto all = slots::list();
    (void)advance_fresh_floor();
    for (const slots::Allocated& each : all) {
        const GeneratorId generator{each.key.definitions, each.key.id};
        if (each.key.database != MyDatabaseId || each.key.is_default()) continue;
        if (definitions::exists(generator)) continue;
        if (generator_lock::is_locked(generator, AccessExclusiveLock)) continue;
        if (!generator_lock::try_begin(generator)) continue;
        slots::release(*each.slot, each.allocation);
        generator_lock::end(generator);
    }
}

}  // namespace

void AttachedSlot::make_room(const slots::SlotKey& key) {
    if (is_limit_reached(key)) {
        release_dropped_generators();
        if (is_limit_reached(key))
            ereport(ERROR, (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
                            errmsg("too many ID generators in this database"),
                            errdetail("At most %d named generators can be in use in a database.",
                                      slots::max_named_generators),
                            errhint("Drop unused generators with snowdrift.drop_generator().")));
    }
    slots::make_room(key);
}

}  // namespace snowdrift
