// The source of the values of a key column: a sequence, or a generator of Snowflake IDs.
#pragma once

#include "pg/migration/columns.hpp"

namespace snowdrift {

/// A generator of Snowflake IDs.
struct KeyGenerator {
    Oid function;        ///< next_snowflake() or next_snowflake(text)
    const char* name;    ///< name of a named generator; null for the default one
    const char* schema;  ///< name of the function's schema
    const char* call;    ///< the call of the function in SQL
};

/// Finds a generator's function. `name`: null for the default generator. Raises 42501 if the
/// current user may not call the function.
KeyGenerator find_generator(const char* name);

/// Draws an ID. Raises 42704 if the generator does not exist.
int64 draw(const KeyGenerator& generator);

/// What generates the values of a column.
struct KeyDefault {
    bool is_identity;
    bool is_generator;  ///< the default is a call of the generator
    Oid sequence;       ///< the sequence that the default uses; InvalidOid if there is none
    const char* other;  ///< the default, if it is a call of another generator; otherwise null
};

/// Whether a column is a serial or identity column, or draws from the generator by default.
bool is_generated(const Column& column, const KeyGenerator& generator);

/// Reads the default of a column. Raises 55000 for a generated column, and if the default is
/// neither missing, nor the default of a serial or identity column, nor a call of a generator of
/// Snowflake IDs.
KeyDefault read_default(const Column& column, const KeyGenerator& generator);

}  // namespace snowdrift
