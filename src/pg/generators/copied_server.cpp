// The functions of copied_server.hpp, and the SQL function snowdrift.confirm_node().
#include "pg/generators/copied_server.hpp"

#include "pg/durability/mark.hpp"
#include "pg/durability/mark_table.hpp"
#include "pg/support/postgres.hpp"

extern "C" {
#include "access/relation.h"
#include "tcop/utility.h"
}

namespace snowdrift {
namespace {

using mark_table::Owner;
using mark_table::Source;
using mark_table::Value;

constexpr int32 unknown_number = -1;

int32 to_column(const ServerNumber& number) { return static_cast<int32>(number.value); }

/// The mark, and this server as its owner with the number that the mark records.
struct Mark {
    Value value;
    Owner self;
};

Mark read_mark() {
    Relation table = mark_table::open();
    const Value value = mark_table::read(table);
    const Owner self = mark_table::this_server(table, value.owner.number);
    relation_close(table, RowExclusiveLock);
    return {value, self};
}

/// Replace the mark's owner and source, unless another session has changed them since `known` was
/// read. Return whether they were replaced.
bool set_owner(const Value& known, const Owner& owner, const Source& source) {
    Relation table = mark_table::open();
    const Value present = mark_table::update(table, [&](const Value& now) {
        const bool is_known = now.owner == known.owner && now.source == known.source;
        return is_known ? Value{now.unix_ms, owner, source, now.origin, now.writer} : now;
    });
    relation_close(table, RowExclusiveLock);
    return present.owner == owner && present.source == source;
}

/// The owner and the source that own_mark() records.
struct Ownership {
    Owner owner;
    Source source;
};

Ownership find_ownership(const Mark& mark) {
    const auto& [value, self] = mark;
    const Owner& owner = value.owner;
    const bool is_copy = owner.system_identifier != 0 &&
                         owner.system_identifier != self.system_identifier &&
                         owner.creation_xid == self.creation_xid;
    if (!is_copy) return {self, value.source};
    return {{self.system_identifier, self.creation_xid, unknown_number},
            {owner.system_identifier, owner.number, static_cast<int32>(definitions::last_id())}};
}

/// Whether the number may be that of the server's source. Numbers of roles and sessions are not
/// recorded, and those of roles are copied.
bool is_contested(const Source& source, const ServerNumber& number) {
    return source.system_identifier != 0 &&
           (!number.is_of_database || source.number == unknown_number ||
            source.number == to_column(number));
}

[[noreturn]] void report_copy(const Source& source, const ServerNumber& number) {
    const auto identifier = static_cast<unsigned long long>(source.system_identifier);
    ereport(
        ERROR,
        (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
         errmsg("this server is a copy and has no number of its own"),
         source.number == unknown_number
             ? errdetail("It was copied from the server with system identifier %llu, whose number "
                         "is not known.",
                         identifier)
         : source.number == to_column(number)
             ? errdetail("It was copied from the server with system identifier %llu, which had "
                         "the same number, %u.",
                         identifier, number.value)
             : errdetail("It was copied from the server with system identifier %llu. The number "
                         "%u is not set for the server or the database.",
                         identifier, number.value),
         source.number == unknown_number
             ? errhint("Set a number that no other server has in snowdrift.node, for example with "
                       "ALTER SYSTEM. Then call snowdrift.confirm_node() as a superuser.")
             : errhint("Set another number in snowdrift.node, for example with ALTER SYSTEM. If "
                       "the other server no longer generates IDs, a superuser can call "
                       "snowdrift.confirm_node().")));
}

}  // namespace

void own_mark() {
    (void)mark::attach();
    const Mark mark = read_mark();
    const Ownership own = find_ownership(mark);
    if (own.owner == mark.value.owner && own.source == mark.value.source) return;
    (void)set_owner(mark.value, own.owner, own.source);
}

bool is_copy(const ServerNumber& number) {
    return is_contested(find_ownership(read_mark()).source, number);
}

void check_not_copy(const ServerNumber& number) {
    const Value value = read_mark().value;
    if (is_contested(value.source, number)) report_copy(value.source, number);
    if (!number.is_of_database || value.owner.number == to_column(number)) return;
    Owner owner = value.owner;
    owner.number = to_column(number);
    (void)set_owner(value, owner, value.source);
}

void check_not_copied(const char* name, const Definition& definition) {
    const Source source = read_mark().value.source;
    if (static_cast<int32>(definition.id) > source.last_generator) return;
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("ID generator \"%s\" was copied from another server", name),
             errdetail("Its IDs do not contain the server's number, so both servers can generate "
                       "equal IDs."),
             errhint("Drop the generator, and create it again with another node or layout. If the "
                     "other server no longer generates IDs, a superuser can call "
                     "snowdrift.confirm_node().")));
}

}  // namespace snowdrift

using namespace snowdrift;

/// snowdrift.confirm_node() → void
SNOWDRIFT_FUNCTION(confirm_node) {
    PreventCommandIfReadOnly("snowdrift.confirm_node()");
    Value value;
    do {
        own_mark();
        value = read_mark().value;
    } while (!set_owner(value, value.owner, {}));
    PG_RETURN_VOID();
}
