// Room for one more slot: released by databases that no longer exist, or added.
#pragma once

#include "pg/memory/slots.hpp"

namespace snowdrift::slots {

/// Ensures that a slot is free, or that the key has one: releases the slots of dropped databases,
/// and adds memory if there are none. Reads the catalogs. Raises 53200 if the server has no shared
/// memory to spare.
void make_room(const SlotKey& key);

}  // namespace snowdrift::slots
