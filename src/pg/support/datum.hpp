// Conversion between Datums and IDs, layouts and byte arrays.
#pragma once

#include <array>
#include <cstring>
#include <new>

#include "pg/support/postgres.hpp"

namespace snowdrift {

/// The ID, or other value of fixed size, that a Datum points to. Not a copy.
template <typename Id>
const Id& get_id(Datum datum) {
    return *reinterpret_cast<const Id*>(DatumGetPointer(datum));
}

/// The ID in argument `n`, counted from 0. Not a copy.
template <typename Id>
const Id& get_argument(FunctionCallInfo fcinfo, int n) {
    return get_id<Id>(PG_GETARG_DATUM(n));
}

/// Returns a copy of a value in the current memory context.
template <typename T>
T* allocate(const T& value) {
    return new (palloc(sizeof(T))) T{value};
}

/// Returns a Datum that points to a copy of an ID, or other value of fixed size, in the current
/// memory context.
template <typename Id>
Datum make_datum(const Id& id) {
    return PointerGetDatum(allocate(id));
}

/// Returns a Datum of type bytea in the current memory context.
template <size_t size>
Datum make_bytea(const std::array<uint8_t, size>& bytes) {
    auto* const result = static_cast<bytea*>(palloc(VARHDRSZ + size));
    SET_VARSIZE(result, VARHDRSZ + size);
    std::memcpy(VARDATA(result), bytes.data(), size);
    return PointerGetDatum(result);
}

}  // namespace snowdrift
