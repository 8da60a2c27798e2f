// IDs, layouts and bytes as Datums.
#pragma once

#include <array>
#include <cstring>
#include <new>

#include "pg/support/postgres.hpp"

namespace snowdrift {

/// The ID, or other value of fixed size, that a Datum points to.
template <typename Id>
const Id& get_id(Datum datum) {
    return *reinterpret_cast<const Id*>(DatumGetPointer(datum));
}

/// The ID that is a function's argument `n`.
template <typename Id>
const Id& get_argument(FunctionCallInfo fcinfo, int n) {
    return get_id<Id>(PG_GETARG_DATUM(n));
}

/// A Datum for an ID, or other value of fixed size, which it copies.
template <typename Id>
Datum make_datum(const Id& id) {
    return PointerGetDatum(new (palloc(sizeof(Id))) Id{id});
}

/// A Datum of type bytea.
template <size_t size>
Datum make_bytea(const std::array<uint8_t, size>& bytes) {
    auto* const result = static_cast<bytea*>(palloc(VARHDRSZ + size));
    SET_VARSIZE(result, VARHDRSZ + size);
    std::memcpy(VARDATA(result), bytes.data(), size);
    return PointerGetDatum(result);
}

}  // namespace snowdrift
