// Properties of the SQL types ulid and sno: name, range of times, text form; and the range of times
// of UUIDs of version 7, whose type is PostgreSQL's uuid.
#pragma once

#include "pg/support/checks.hpp"
#include "pg/types/text_errors.hpp"
#include "snowdrift/sno.hpp"
#include "snowdrift/ulid.hpp"
#include "snowdrift/uuidv7.hpp"

namespace snowdrift {

/// Maps an ID class to its SQL type: `name` is the type's name, `times` the range of timestamps,
/// `text_form` the text form and `Alphabet` its alphabet.
template <typename Id>
struct IdTraits;

template <>
struct IdTraits<Ulid> {
    static constexpr char name[] = "ulid";
    static constexpr TimeRange times{"a ULID", Ulid::epoch_unix_ms, Ulid::max_timestamp_ms};
    static constexpr TextForm text_form{"input", 0, Ulid::text_size, 128, "type ulid"};
    using Alphabet = CrockfordAlphabet;
};

template <>
struct IdTraits<Sno> {
    static constexpr char name[] = "sno";
    static constexpr TimeRange times{"a sno", Sno::epoch_unix_ms, Sno::max_timestamp_ms};
    static constexpr TextForm text_form{"input", 0, Sno::text_size, 80, "type sno"};
    using Alphabet = SnoAlphabet;
};

template <>
struct IdTraits<Uuidv7> {
    static constexpr TimeRange times{"UUID version 7", Uuidv7::epoch_unix_ms,
                                     Uuidv7::max_timestamp_ms};
};

/// The time in argument `n`, counted from 0, in Unix milliseconds, rounded down. Raises 22008
/// unless `Id` has such a timestamp.
template <typename Id>
int64 get_time(FunctionCallInfo fcinfo, int n) {
    const TimestampTz time = PG_GETARG_TIMESTAMPTZ(n);
    return check_time(IdTraits<Id>::times, time, timestamp_floor_ms(time));
}

}  // namespace snowdrift
