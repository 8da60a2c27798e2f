// Sums of IDs and numbers, for tests of IDs that follow each other.
#pragma once

#include <cstdint>

#include "snowdrift/value.hpp"

namespace snowdrift {

/// The Ulid or Uuidv7 whose ordinal is greater by `count`.
template <AnyId Id>
constexpr Id operator+(const Id& id, uint64_t count) {
    return Id::from_ordinal(id.ordinal() + count);
}

}  // namespace snowdrift
