// The definitions of named generators, in the table snowdrift_tables.generator.
//
// The rule: a definition does not change, except that snowdrift.restore() removes its origin, and a
// generator is not dropped while a transaction that drew from it is open. So a session may keep
// what it has read (generator_cache.hpp) until the table is invalidated, and a state belongs to one
// definition for as long as it exists. DROP EXTENSION does not wait: the tag of the mark changes.
//
// What can go wrong: a generator is dropped while transactions draw from it, or a drop or a
// creation is rolled back. Each transaction that draws holds a lock on the generator's id
// (generator_lock.hpp), for which a drop waits. A slot is released when the transaction that drops
// its generator commits, or the one that creates it is rolled back. If the drop is rolled back or
// prepared, the state is advanced past the floor, because another generator can have drawn
// meanwhile. This is the part of sentence 2 of the proof in docs/guarantees.md that speaks of
// generators that replace others.
//
// Changes by hand would break the rule, so triggers (administration/create_generator.cpp) refuse
// them, and let dumps insert rows. They skip rows of another server, which logical replication
// applies.
#pragma once

#include <optional>

#include "pg/named/definition.hpp"
#include "pg/support/postgres.hpp"

extern "C" {
#include "access/htup.h"
#include "utils/relcache.h"
}

namespace snowdrift::definitions {

/// The maximum length of a generator's name, in bytes.
inline constexpr size_t max_name_length = NAMEDATALEN - 1;

/// Ensures that the bounds of the sequence are in order and include at least 4 numbers, or 32 if
/// its starts are spread. Raises 22023.
void check_bounds(const Definition& definition);

/// Ensures that a Snowflake generator can issue IDs: that its layout contains the present. Raises
/// 22023.
void check_present(const Definition& definition);

/// The definition of the generator `name`; nothing if there is none. Raises 22003 or 22023 if the
/// definition is invalid, which is possible only for a row inserted by hand.
std::optional<Definition> lookup(const char* name);

/// The same, and locks the generator: drop_generator() waits until this transaction ends, as DROP
/// SEQUENCE does. DROP EXTENSION does not: see NodeHandle::begin(). Raises 42704 if there is no
/// such generator.
Definition lock(const char* name);

/// An id from the sequence of the ids, which no generator of the database has.
uint32_t next_id();

/// Waits until no other transaction has drawn from the generator `name`, and then blocks others
/// from drawing until this transaction ends. Raises 42704 if there is no such generator.
void lock_exclusively(const char* name);

/// Raises 42704: the generator `name` does not exist.
[[noreturn]] void report_undefined(const char* name);

/// Raises 42809: the generator `name` does not generate IDs of the kind `wanted`.
[[noreturn]] void report_wrong_kind(const char* name, slots::Kind wanted);

/// Raises 42704: the generator `name` was dropped with its extension.
[[noreturn]] void report_dropped(const char* name);

/// Creates the generator `name` with a new id; ignores `table`, `id` and `origin_ms` of
/// `definition`. The origin of a Snowflake generator is the present time unit. Raises 42710 if the
/// generator exists, 42602 if the name is invalid.
void insert(const char* name, const Definition& definition);

/// Removes the origin of the generator `name`, because it continues one that has issued IDs
/// elsewhere. Precondition: lock(name) was called.
void remove_origin(const char* name);

/// Drops the generator `name`, and returns it. Precondition: lock_exclusively(name) was called.
GeneratorId remove(const char* name);

/// Ensures that the IDs of the generator `name` differ from those of other nodes if this server is
/// in a Citus cluster: a definition is the same on all nodes, so one with a node of its own is not
/// unique unless it is for this node only. Raises 55000.
void check_unique_in_cluster(const char* name, const Definition& definition);

/// Advances the state of a new generator past the floor of fresh states. A new generator has a
/// state only if a dropped one had the same id, and the drop was prepared or is part of this
/// transaction.
void begin_after_others(const GeneratorId& generator);

/// Makes all sessions reread the table, and all further fresh states start after all IDs that were
/// issued: see advance_fresh_floor().
/// Raises 55000 if this session's library was replaced.
void invalidate(Relation table);

/// Whether the generator exists, or will exist if an open transaction commits. Reads the table.
bool exists(const GeneratorId& generator);

}  // namespace snowdrift::definitions
