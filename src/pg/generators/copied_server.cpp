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
using mark_table::Value;

constexpr int32 unknown_number = -1;

int32 to_column(const ServerNumber& number) { return static_cast<int32>(number.value); }

/// The mark's value, and this server with the number that the owner of the mark has.
struct Ownership {
    Value value;
    Owner self;

    bool is_of_copy() const {
        const Owner& owner = value.owner;
        return owner.system_identifier != 0 && owner.system_identifier != self.system_identifier &&
               owner.creation_xid == self.creation_xid;
    }

    /// Whether the mark is this copy's although the number has not changed, or may not have.
    bool is_contested(const ServerNumber& number) const {
        const bool is_changed = number.is_of_database && to_column(number) != value.owner.number;
        return is_of_copy() && !is_changed;
    }
};

Ownership read_ownership() {
    Relation table = mark_table::open();
    const Value value = mark_table::read(table);
    const Owner self = mark_table::this_server(table, value.owner.number);
    relation_close(table, RowExclusiveLock);
    return {value, self};
}

/// Make this server, with `number`, the owner of the mark.
void own_mark(int32 number, int32 copied_generators) {
    Relation table = mark_table::open();
    const Owner self = mark_table::this_server(table, number);
    (void)mark_table::update(table, [&](const Value& now) {
        return Value{now.unix_ms, self, copied_generators, now.writer};
    });
    relation_close(table, RowExclusiveLock);
}

[[noreturn]] void report_copy(const Owner& source, const ServerNumber& number) {
    const auto identifier = static_cast<unsigned long long>(source.system_identifier);
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("this server is a copy and has no number of its own"),
             to_column(number) == source.number
                 ? errdetail("Its number is %u, as on the server with system identifier %llu.",
                             number.value, identifier)
                 : errdetail("It is a copy of the server with system identifier %llu. The number "
                             "%u was not set for this server or for this database.",
                             identifier, number.value),
             errhint("Set another number in snowdrift.node, for example with ALTER SYSTEM. If the "
                     "other server no longer generates IDs, a superuser can call "
                     "snowdrift.confirm_node().")));
}

}  // namespace

bool is_copy(const ServerNumber& number) { return read_ownership().is_contested(number); }

void check_not_copy(const ServerNumber& number) {
    (void)mark::attach();
    const Ownership found = read_ownership();
    if (found.is_contested(number)) report_copy(found.value.owner, number);
    const Owner& owner = found.value.owner;
    const bool is_same_server = owner.system_identifier == found.self.system_identifier;
    const int32 known_number = is_same_server ? owner.number : unknown_number;
    const int32 new_number = number.is_of_database ? to_column(number) : known_number;
    if (found.self == owner && new_number == known_number) return;
    own_mark(new_number, found.is_of_copy() ? static_cast<int32>(definitions::last_id())
                                            : found.value.copied_generators);
}

void check_not_copied(const char* name, const Definition& definition) {
    (void)mark::attach();
    const Ownership found = read_ownership();
    if (!found.is_of_copy() && static_cast<int32>(definition.id) > found.value.copied_generators)
        return;
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("ID generator \"%s\" was copied from another server", name),
             errdetail("Its IDs do not contain the server's number, so both servers can generate "
                       "equal IDs."),
             errhint("Drop the generator, and create it again with another node. If the other "
                     "server no longer generates IDs, a superuser can call "
                     "snowdrift.confirm_node().")));
}

}  // namespace snowdrift

using namespace snowdrift;

/// snowdrift.confirm_node() → void
SNOWDRIFT_FUNCTION(confirm_node) {
    PreventCommandDuringRecovery("snowdrift.confirm_node()");
    (void)mark::attach();
    const auto number = find_server_number();
    own_mark(number && number->is_of_database ? to_column(*number) : unknown_number, 0);
    PG_RETURN_VOID();
}
