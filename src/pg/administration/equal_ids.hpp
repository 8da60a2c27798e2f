// Generators that can issue the same IDs. Uniqueness is per generator.
#pragma once

#include "pg/named/definition.hpp"

namespace snowdrift {

/// Raises a NOTICE that names the generators whose IDs can equal those of the generator `name`, if
/// there are any: generators of the same kind whose timestamps are the same bits (equal epoch, time
/// unit and position), with equal nodes and common sequence numbers. For a generator without a node
/// of its own, the node is the server's present number.
void notice_equal_ids(const char* name, const Definition& definition);

}  // namespace snowdrift
