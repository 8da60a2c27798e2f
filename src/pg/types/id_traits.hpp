// Properties of the SQL types ulid and sno: name, range of times, alphabet.
#pragma once

#include "pg/support/checks.hpp"
#include "snowdrift/sno.hpp"
#include "snowdrift/ulid.hpp"

namespace snowdrift {

/// Maps an ID class to its SQL type: `name` is the type's name, `times` the range of timestamps,
/// `Alphabet` the alphabet of the text form.
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
