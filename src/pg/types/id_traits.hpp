// What the SQL types ulid and sno are called, and what times they hold.
#pragma once

#include "pg/support/checks.hpp"
#include "snowdrift/sno.hpp"
#include "snowdrift/ulid.hpp"

namespace snowdrift {

/// What SQL needs to know of an ID type beyond its values: the type's name, the times that it can
/// carry, and the alphabet of its text.
template <typename Id>
struct IdTraits;

template <>
struct IdTraits<Ulid> {
    static constexpr char name[] = "ulid";
    static constexpr TimeRange times{"a ULID", Ulid::epoch_unix_ms, Ulid::max_timestamp_ms};
    using Alphabet = CrockfordAlphabet;
};

template <>
struct IdTraits<Sno> {
    static constexpr char name[] = "sno";
    static constexpr TimeRange times{"a sno", Sno::epoch_unix_ms, Sno::max_timestamp_ms};
    using Alphabet = SnoAlphabet;
};

}  // namespace snowdrift
