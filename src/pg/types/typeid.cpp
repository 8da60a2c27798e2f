// The SQL functions that convert UUIDs to TypeIDs and back.
#include "snowdrift/typeid.hpp"

#include "pg/support/datum.hpp"
#include "pg/support/postgres.hpp"
#include "pg/types/text_errors.hpp"

extern "C" {
#include "utils/builtins.h"
#include "utils/uuid.h"
}

using namespace snowdrift;

namespace {

using Reason = TypeId::Error::Reason;

/// Adds to an error's detail why `text` is not a TypeID, or not a prefix.
int explain_typeid(const char* text, TypeId::Error error) {
    switch (error.reason) {
        case Reason::empty_prefix:
            return errdetail("A TypeID without a prefix has no underscore.");
        case Reason::prefix_character:
            return errdetail(
                "The character \"%s\" at position %zu of the prefix is neither a lower-case letter "
                "from \"a\" to \"z\" nor an underscore.",
                first_character(text + error.index), error.index + 1);
        case Reason::prefix_length:
            return errdetail("A prefix has at most %zu characters.", TypeId::max_prefix_size);
        case Reason::prefix_end:
            return errdetail("A prefix cannot begin or end with an underscore.");
        default:
            return explain_text<TypeIdAlphabet>(
                text + error.index, error.suffix,
                {"suffix", error.index, TypeId::suffix_size, 128, "TypeIDs"});
    }
}

/// The TypeID in argument 0. Raises 22P02.
TypeId typeid_argument(FunctionCallInfo fcinfo) {
    const char* const input = text_to_cstring(PG_GETARG_TEXT_PP(0));
    TypeId id;
    if (const TypeId::Error error = TypeId::parse(input, id))
        ereport(ERROR, (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
                        errmsg("invalid TypeID: \"%s\"", input), explain_typeid(input, error)));
    return id;
}

}  // namespace

/// typeid_to_text(prefix text, uuid) → text
SNOWDRIFT_FUNCTION(typeid_to_text) {
    const char* const prefix = text_to_cstring(PG_GETARG_TEXT_PP(0));
    if (const TypeId::Error error = TypeId::check_prefix(prefix))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("invalid prefix of a TypeID: \"%s\"", prefix),
                        explain_typeid(prefix, error)));
    static_assert(sizeof(TypeId::uuid) == UUID_LEN);
    char text[TypeId::max_text_size];
    const char* const end = TypeId{prefix, get_argument<TypeId::Uuid>(fcinfo, 1)}.format(text);
    PG_RETURN_TEXT_P(cstring_to_text_with_len(text, static_cast<int>(end - text)));
}

/// typeid_prefix(text) → text
SNOWDRIFT_FUNCTION(typeid_prefix) {
    const std::string_view prefix = typeid_argument(fcinfo).prefix;
    PG_RETURN_TEXT_P(cstring_to_text_with_len(prefix.data(), static_cast<int>(prefix.size())));
}

/// typeid_to_uuid(text) → uuid
SNOWDRIFT_FUNCTION(typeid_to_uuid) { return make_datum(typeid_argument(fcinfo).uuid); }
