// The plan of a conversion: which keys, columns, tables and views it changes, in which order.
#pragma once

#include "pg/migration/key_default.hpp"

namespace snowdrift {

/// A sequence that the default of a key, or of its column in an inheriting table, uses.
struct KeySequence {
    Column key;
    Oid sequence;
};

/// A column, of a key or of an inheriting table, whose default was a call of another generator.
struct ReplacedDefault {
    Column key;
    const char* expression;
};

struct Conversion {
    List* tables = NIL;    ///< OIDs of the tables to lock, ascending, without inheriting tables
    List* changes = NIL;   ///< the statements that change the tables; NIL if all keys are converted
    List* views = NIL;     ///< OIDs of the views to create again, in the order to drop them
    List* new_keys = NIL;  ///< of Column: the keys whose default changes
    List* replaced = NIL;  ///< of ReplacedDefault
    List* kept_sequences = NIL;  ///< of KeySequence: no converted column owns the sequence
};

/// The column `name` of a table, which must be usable as a key. Raises 42P01, 42501, 42809, 42703,
/// 42804 or 42P16.
Column find_key(Oid table, const char* name);

/// The keys of a table: the columns of its primary key that are serial or identity columns, or draw
/// from `generator`, and are not inherited. Raises 42P01, 42501, 42809 or 42804.
List* find_keys(Oid table, const KeyGenerator& generator);

/// Plans the conversion of a List of Column, and ensures that it is possible. Raises 42830, 42501,
/// 55000, and the errors of views_of(). Requires a connection to SPI. The current user is
/// the owner of the keys' tables.
Conversion plan_conversion(List* keys, const KeyGenerator& generator);

/// All statements of a conversion, as a List of char *. Requires a connection to SPI.
List* statements_of(const Conversion& conversion);

}  // namespace snowdrift
