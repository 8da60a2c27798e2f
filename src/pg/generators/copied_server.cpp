// The functions of copied_server.hpp, and the SQL function snowdrift.confirm_node().
#include "pg/generators/copied_server.hpp"

#include <optional>

#include "pg/durability/mark.hpp"
#include "pg/durability/mark_table.hpp"
#include "pg/support/postgres.hpp"

extern "C" {
#include "access/relation.h"
#include "access/xlog.h"
#include "tcop/utility.h"
}

namespace snowdrift {
namespace {

using citus::Membership;
using mark_table::Owner;
using mark_table::Source;
using mark_table::Value;

constexpr int32 unknown_number = -1;
constexpr int32 no_group = -1;
constexpr TimeLineID first_timeline = 1;

int32 to_column(const ServerNumber& number) { return static_cast<int32>(number.value); }

/// Whose IDs the mark covers.
struct Identity {
    Value value;        ///< the mark's row
    Owner self;         ///< this server, with the number of the row's owner unless it is a copy
    Source source;      ///< the server of which this one is a copy
    bool may_be_clone;  ///< whether this server may be a clone of the row's owner, or the owner
};

int32 find_group(const Membership& membership) {
    return membership.is_in_cluster() ? membership.group.value_or(no_group) : no_group;
}

/// Whether this server was promoted, or recovered to a point in time, since it owned the mark.
bool was_promoted(const Owner& last, const Owner& self) {
    if (RecoveryInProgress() || last.system_identifier == 0) return false;
    // pg_upgrade starts with the first timeline.
    const bool is_upgraded = last.system_identifier != self.system_identifier;
    return self.timeline != (is_upgraded ? first_timeline : last.timeline);
}

/// Whether the group of a Citus cluster is not the one in which this server last owned the mark,
/// which is none if it has not owned it since it joined the cluster.
bool is_in_other_group(const Owner& last, const Owner& self) {
    return self.citus_group != no_group && last.citus_group != self.citus_group;
}

Identity copy_of(const Value& value, Owner self, uint64_t system_identifier, int32 number) {
    self.number = unknown_number;
    return {value,
            self,
            {system_identifier, number, static_cast<int32>(definitions::last_id())},
            false};
}

Identity read_identity(const Membership& membership) {
    Relation table = mark_table::open();
    const Value value = mark_table::read(table);
    const Owner& last = value.owner;
    Owner self = mark_table::this_server(table, last);
    relation_close(table, RowExclusiveLock);
    self.citus_group = find_group(membership);

    const bool has_files_of_other = last.system_identifier != 0 &&
                                    last.system_identifier != self.system_identifier &&
                                    last.creation_xid == self.creation_xid;
    if (has_files_of_other) return copy_of(value, self, last.system_identifier, last.number);
    if (was_promoted(last, self)) {
        // Citus promotes a clone before it changes the clone's group.
        if (membership.has_clone) return {value, self, value.source, true};
        if (is_in_other_group(last, self))
            return copy_of(value, self, self.system_identifier,
                           last.is_number_configured ? last.number : unknown_number);
    }
    return {value, self, value.source, false};
}

/// Replace the mark's owner and source, unless another session has changed them since `known` was
/// read. Return whether they are the given ones.
bool set_owner(const Value& known, const Owner& owner, const Source& source) {
    if (known.owner == owner && known.source == source) return true;
    Relation table = mark_table::open();
    const Value present = mark_table::update(table, [&](const Value& now) {
        const bool is_known = now.owner == known.owner && now.source == known.source;
        return is_known ? Value{now.unix_ms, owner, source, now.origin, now.writer} : now;
    });
    relation_close(table, RowExclusiveLock);
    return present.owner == owner && present.source == source;
}

/// Why another server may have this server's number.
enum class Problem : uint8_t { none, is_copy, may_be_clone, is_number_lost };

/// Whether a copy may have the number of its source. Numbers of roles and sessions are not
/// recorded, and those of roles are copied. The number that Citus gives to a clone is no other
/// node's.
bool is_contested(const Identity& identity, const ServerNumber& number) {
    const Source& source = identity.source;
    if (source.system_identifier == 0) return false;
    if (!number.is_of_database || source.number == to_column(number)) return true;
    const bool is_clone = source.system_identifier == identity.self.system_identifier;
    return source.number == unknown_number && (number.is_configured || !is_clone);
}

/// The number of this server's last IDs, or of its source's.
int32 last_number(const Identity& identity) {
    const int32 own = identity.self.number;
    return own != unknown_number ? own : identity.source.number;
}

Problem find_problem(const Identity& identity, const ServerNumber& number) {
    if (identity.may_be_clone) return Problem::may_be_clone;
    if (is_contested(identity, number)) return Problem::is_copy;
    if (identity.self.is_number_configured && number.is_of_database && !number.is_configured &&
        identity.self.citus_group == no_group && last_number(identity) != to_column(number))
        return Problem::is_number_lost;
    return Problem::none;
}

/// The primary message of the error that reports a problem; null if there is none.
const char* message_of(Problem problem, const Identity& identity) {
    switch (problem) {
        case Problem::none:
            return nullptr;
        case Problem::is_copy:
            return "this server is a copy and has no number of its own";
        case Problem::may_be_clone:
            return "this server may be a clone and has no number of its own";
        case Problem::is_number_lost:
            return psprintf("number %d of this server's last IDs is no longer configured",
                            last_number(identity));
    }
    pg_unreachable();
}

[[noreturn]] void report_copy(const Identity& identity, const ServerNumber& number) {
    const Source& source = identity.source;
    const char* const origin =
        source.system_identifier == identity.self.system_identifier
            ? "It was a clone of another node of the Citus cluster"
            : psprintf("It was copied from the server with system identifier %llu",
                       static_cast<unsigned long long>(source.system_identifier));
    ereport(
        ERROR,
        (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
         errmsg("%s", message_of(Problem::is_copy, identity)),
         source.number == unknown_number ? errdetail("%s, whose number is not known.", origin)
         : source.number == to_column(number)
             ? errdetail("%s, which had the same number, %u.", origin, number.value)
             : errdetail("%s. The number %u is not set for the server or the database.", origin,
                         number.value),
         source.number == unknown_number
             ? errhint("Set a number that no other server has in snowdrift.node, for example with "
                       "ALTER SYSTEM. Then call snowdrift.confirm_node() as a superuser.")
             : errhint("Set another number in snowdrift.node, for example with ALTER SYSTEM. If "
                       "the other server no longer generates IDs, a superuser can call "
                       "snowdrift.confirm_node().")));
}

[[noreturn]] void report_possible_clone(const Identity& identity) {
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("%s", message_of(Problem::may_be_clone, identity)),
             errdetail("Citus lists a clone of this server's group %d, and the server was promoted "
                       "since it generated its last IDs.",
                       identity.self.citus_group),
             errhint("Try again when Citus has promoted the clone. If this server is not the "
                     "clone, promote or remove the clone, or call snowdrift.confirm_node() as a "
                     "superuser.")));
}

[[noreturn]] void report_lost_number(const Identity& identity, const ServerNumber& number) {
    const int32 lost = last_number(identity);
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("%s", message_of(Problem::is_number_lost, identity)),
             errdetail("snowdrift.node is \"%s\", which gives the number %u.",
                       GetConfigOption("snowdrift.node", false, false), number.value),
             errhint("Set the number on this server, for example with ALTER SYSTEM SET "
                     "snowdrift.node = %d. If no number is needed, call snowdrift.confirm_node() "
                     "as a superuser.",
                     lost)));
}

/// Raise 55000 if another server may have the number.
void report(Problem problem, const Identity& identity, const ServerNumber& number) {
    switch (problem) {
        case Problem::none:
            return;
        case Problem::is_copy:
            report_copy(identity, number);
        case Problem::may_be_clone:
            report_possible_clone(identity);
        case Problem::is_number_lost:
            report_lost_number(identity, number);
    }
}

}  // namespace

void own_mark() {
    (void)mark::attach();
    const Identity identity = read_identity(citus::read_membership());
    if (!identity.may_be_clone) (void)set_owner(identity.value, identity.self, identity.source);
}

void check_own_number(const ServerNumber& number, const Membership& membership) {
    // The number that this session has recorded. The session keeps it when others record another
    // one: after ALTER DATABASE, open sessions still have the previous setting.
    static std::optional<ServerNumber> recorded;
    for (;;) {
        const Identity identity = read_identity(membership);
        const bool is_kept = recorded == number && identity.self.number != unknown_number;
        const Problem problem = find_problem(identity, number);
        if (!is_kept || problem != Problem::is_number_lost) report(problem, identity, number);
        if (!number.is_of_database) return;
        Owner owner = identity.self;
        if (!is_kept) {
            owner.number = to_column(number);
            owner.is_number_configured = number.is_configured;
        }
        if (!set_owner(identity.value, owner, identity.source)) continue;
        recorded = number;
        return;
    }
}

void check_not_copied(const char* name, const Definition& definition) {
    const Identity identity = read_identity(citus::read_membership());
    if (identity.may_be_clone) report_possible_clone(identity);
    if (static_cast<int32>(definition.id) > identity.source.last_generator) return;
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("ID generator \"%s\" was copied from another server", name),
             errdetail("Its IDs do not contain the server's number, so both servers can generate "
                       "equal IDs."),
             errhint("Drop the generator, and create it again with another node or layout. If the "
                     "other server no longer generates IDs, a superuser can call "
                     "snowdrift.confirm_node().")));
}

const char* find_number_problem(const ServerNumber& number, const Membership& membership) {
    const Identity identity = read_identity(membership);
    return message_of(find_problem(identity, number), identity);
}

}  // namespace snowdrift

using namespace snowdrift;

/// snowdrift.confirm_node() → void
SNOWDRIFT_FUNCTION(confirm_node) {
    PreventCommandIfReadOnly("snowdrift.confirm_node()");
    (void)mark::attach();
    const auto number = find_server_number();
    Identity identity;
    do {
        identity = read_identity(citus::read_membership());
        if (identity.self.is_number_configured && number && !number->is_of_database)
            ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                            errmsg("cannot confirm the number of a role or session"),
                            errhint("Call snowdrift.confirm_node() in a session in which "
                                    "snowdrift.node is not set for the role or session.")));
        identity.self.is_number_configured &= number && number->is_configured;
    } while (!set_owner(identity.value, identity.self, {}));
    PG_RETURN_VOID();
}
