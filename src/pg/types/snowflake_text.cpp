// The SQL functions that convert Snowflake IDs to texts and back.
#include "snowdrift/snowflake_text.hpp"

#include "pg/types/snowflake_layout_type.hpp"
#include "pg/types/text_errors.hpp"

extern "C" {
#include "utils/builtins.h"
}

using namespace snowdrift;

/// snowflake_to_text(bigint) → text
SNOWDRIFT_FUNCTION(snowflake_to_text) {
    char text[SnowflakeText::size];
    SnowflakeText::format(check_snowflake(default_layout, PG_GETARG_INT64(0)), text);
    PG_RETURN_TEXT_P(cstring_to_text_with_len(text, sizeof text));
}

/// snowflake_from_text(text) → bigint
SNOWDRIFT_FUNCTION(snowflake_from_text) {
    const char* const input = text_to_cstring(PG_GETARG_TEXT_PP(0));
    int64 id;
    if (const ParseError error = SnowflakeText::parse(input, id))
        ereport(ERROR, (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
                        errmsg("invalid text of a Snowflake ID: \"%s\"", input),
                        explain<CrockfordAlphabet>(
                            input, error, {"input", 0, SnowflakeText::size, 63, "Snowflake IDs"})));
    PG_RETURN_INT64(id);
}
