// The SQL types of IDs, and the SQL functions that decode, compose and compare IDs. This file has
// those that the types ulid and sno share: text and binary input and output, comparison, operator
// class support, timestamps. ulid_type.cpp and sno_type.cpp define the V1 entry points; uuidv7.cpp
// uses the functions that work with PostgreSQL's uuid. snowflake_functions.cpp has Snowflake IDs,
// which are bigints, snowflake_layout_type.cpp their layouts, time_predicates.cpp the comparisons
// of IDs with times. The formats themselves are in include/snowdrift.
//
// The rule: a result follows from the arguments alone, and not from the clock, a setting, the time
// zone or a generator. All functions are immutable, so indexes and generated columns may call them.
// IDs sort by their bytes, bigints as numbers: in both cases by the timestamp first. An index on
// IDs is therefore an index on their times, which planner/predicate_call.hpp uses.
//
// What can go wrong: a bigint does not contain its layout. In another layout, it has other fields
// and another time, and raises an error only if it is out of range. A uuid can be of another
// version: decoding it returns null. A time can be outside the format's range: composing an ID
// raises 22008, but predicates accept any time. Tables contain the bytes of Ulid, Sno and
// SnowflakeLayout, so these bytes and their meaning never change.
//
// The proof in docs/guarantees.md does not rely on this folder.
#pragma once

#include <algorithm>
#include <functional>

#include "pg/support/checks.hpp"
#include "pg/support/datum.hpp"
#include "pg/types/id_sort.hpp"
#include "pg/types/id_traits.hpp"
#include "pg/types/text_errors.hpp"
#include "snowdrift/uint128.hpp"

extern "C" {
#include "libpq/pqformat.h"
}

namespace snowdrift {

/// Raise 22P02 for an invalid string, as a soft error if the caller supports it. In a comparison
/// with an ID, PostgreSQL reads a time without a type as an ID, so the error for a string that
/// begins with a date has a hint.
template <typename Id>
[[gnu::cold, gnu::noinline]] Datum reject_id(const char* text, ParseError error, Node* context) {
    const char* const name = IdTraits<Id>::name;
    ereturn(context, Datum{0},
            (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
             errmsg("invalid input syntax for type %s: \"%s\"", name, text),
             explain_text<typename IdTraits<Id>::Alphabet>(text, error, IdTraits<Id>::text_form),
             begins_with_date(text)
                 ? errhint("To compare IDs with a time, give the time its type, as in "
                           "$1::timestamptz, or call %s_since() or a similar function.",
                           name)
                 : 0));
}

/// Ensure that a binary form has the length of the ID type. Raises 22P03. The text form is not
/// accepted in its place, because the text of a sno is as long as the binary form of a ULID.
template <typename Id>
void check_size(size_t size) {
    if (size != Id::size)
        ereport(
            ERROR,
            (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
             errmsg("invalid length for type %s: %zu bytes instead of %zu", IdTraits<Id>::name,
                    size, Id::size),
             size == Id::text_size
                 ? errhint("This is the length of the text form. Send the value in text format, "
                           "or encode its %zu bytes.",
                           Id::size)
                 : 0));
}

/// The randomness of an ID in argument `n`, a bytea. Raises 22023 for another length.
template <typename Id>
typename Id::Randomness get_randomness(FunctionCallInfo fcinfo, int n) {
    const bytea* const bytes = PG_GETARG_BYTEA_PP(n);
    typename Id::Randomness randomness;
    if (VARSIZE_ANY_EXHDR(bytes) != randomness.size())
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("invalid length for randomness: %zu bytes instead of %zu",
                               size_t{VARSIZE_ANY_EXHDR(bytes)}, randomness.size())));
    std::memcpy(randomness.data(), VARDATA_ANY(bytes), randomness.size());
    return randomness;
}

/// The SQL functions of the ID type `Id`.
template <typename Id>
struct IdType {
    static Datum in(FunctionCallInfo fcinfo) {
        const char* const text = PG_GETARG_CSTRING(0);
        auto* const id = static_cast<Id*>(palloc(sizeof(Id)));
        const ParseError error = Id::parse(text, *id);
        if (unlikely(bool{error})) return reject_id<Id>(text, error, fcinfo->context);
        PG_RETURN_POINTER(id);
    }

    static Datum out(FunctionCallInfo fcinfo) {
        auto* const text = static_cast<char*>(palloc(Id::text_size + 1));
        *argument(fcinfo, 0).format(text) = '\0';
        PG_RETURN_CSTRING(text);
    }

    static Datum recv(FunctionCallInfo fcinfo) {
        auto* const message = reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0));
        check_size<Id>(message->len - message->cursor);
        const char* const bytes = message->data + message->cursor;
        message->cursor += int{Id::size};
        return read(bytes);
    }

    static Datum send(FunctionCallInfo fcinfo) { return make_bytea(argument(fcinfo, 0).bytes()); }

    static Datum from_bytea(FunctionCallInfo fcinfo) {
        const bytea* const bytes = PG_GETARG_BYTEA_PP(0);
        check_size<Id>(VARSIZE_ANY_EXHDR(bytes));
        return read(VARDATA_ANY(bytes));
    }

    /// `Comparison`: such as std::less<>.
    template <typename Comparison>
    static Datum compares(FunctionCallInfo fcinfo) {
        PG_RETURN_BOOL(Comparison{}(argument(fcinfo, 0), argument(fcinfo, 1)));
    }

    static Datum cmp(FunctionCallInfo fcinfo) {
        PG_RETURN_INT32(compare(argument(fcinfo, 0), argument(fcinfo, 1)));
    }

    static Datum sortsupport(FunctionCallInfo fcinfo) {
        prepare_sort<Id>(reinterpret_cast<SortSupport>(PG_GETARG_POINTER(0)));
        PG_RETURN_VOID();
    }

    static Datum hash(FunctionCallInfo fcinfo) {
        return hash_any(argument(fcinfo, 0).bytes().data(), Id::size);
    }

    static Datum hash_extended(FunctionCallInfo fcinfo) {
        return hash_any_extended(argument(fcinfo, 0).bytes().data(), Id::size,
                                 static_cast<uint64>(PG_GETARG_INT64(1)));
    }

    /// Return the distance between two IDs. BRIN minmax-multi merges the closest ranges.
    static Datum distance(FunctionCallInfo fcinfo) {
        const auto [a, b] = std::minmax(argument(fcinfo, 0), argument(fcinfo, 1));
        PG_RETURN_FLOAT8(static_cast<double>(number(b) - number(a)));
    }

    /// The first argument if it compares with the second one as `Comparison` says, else the second.
    template <typename Comparison>
    static Datum choose(FunctionCallInfo fcinfo) {
        return PG_GETARG_DATUM(Comparison{}(argument(fcinfo, 0), argument(fcinfo, 1)) ? 0 : 1);
    }

    // A timestamp in UTC and a timestamptz of the same time have the same binary value, so the next
    // two functions serve both types.

    static Datum timestamp(FunctionCallInfo fcinfo) {
        PG_RETURN_TIMESTAMPTZ(timestamp_from_unix_ms(argument(fcinfo, 0).timestamp_ms()));
    }

    static Datum boundary(FunctionCallInfo fcinfo) {
        const TimestampTz time = PG_GETARG_TIMESTAMPTZ(0);
        return make_datum(
            Id::boundary(time_of(check_time(IdTraits<Id>::times, time, timestamp_ceil_ms(time)))));
    }

    static Datum nil(FunctionCallInfo) { return make_datum(Id::nil()); }

    static Datum max(FunctionCallInfo) { return make_datum(Id::max()); }

 private:
    static const Id& argument(FunctionCallInfo fcinfo, int n) {
        return get_argument<Id>(fcinfo, n);
    }

    /// The bytes of an ID as a number.
    static Uint128 number(const Id& id) {
        return static_cast<Uint128>(id.high()) << 8 * sizeof id.low() | id.low();
    }

    /// Make a Datum from the binary form at `bytes`.
    static Datum read(const char* bytes) {
        return PointerGetDatum(std::memcpy(palloc(Id::size), bytes, Id::size));
    }
};

}  // namespace snowdrift
