#include "pg/mark/make_room.hpp"

extern "C" {
#include "utils/inval.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
}

namespace snowdrift::slots {
namespace {

/// Release the slots of databases that no longer exist. Return false if there are none.
bool release_dropped_databases() {
    const auto all = list();
    // The catalogs must not be older than the list.
    AcceptInvalidationMessages();
    InvalidateCatalogSnapshot();
    bool is_released = false;
    for (const Allocated& each : all) {
        if (SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(each.key.database))) continue;
        release(*each.slot, each.allocation);
        is_released = true;
    }
    return is_released;
}

}  // namespace

void make_room(const SlotKey& key) {
    const Occupancy present = occupancy(key);
    if (present.has_slot || present.free != nullptr) return;
    if (!release_dropped_databases()) grow();
}

}  // namespace snowdrift::slots
