// Making room for one more slot: releasing slots of dropped databases, or adding memory.
#pragma once

#include "pg/mark/slots.hpp"

namespace snowdrift::slots {

/// Ensures that a slot is free, or that the key has a slot: releases the slots of dropped
/// databases, or adds memory if there are none. Reads the catalogs. Raises 53200 if the server has
/// no free shared memory.
void make_room(const SlotKey& key);

}  // namespace snowdrift::slots
