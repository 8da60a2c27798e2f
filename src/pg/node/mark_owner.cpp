#include "pg/node/mark_owner.hpp"

#include "pg/mark/mark_table.hpp"
#include "pg/support/postgres.hpp"

extern "C" {
#include "access/xlog.h"
}

namespace snowdrift {
namespace {

using citus::Membership;
using mark_table::Owner;
using mark_table::Value;

/// Why another server may generate equal IDs.
enum class Doubt : uint8_t { none, is_copy, was_clone, may_be_clone, is_number_lost };

/// What the mark's row says of this server and its number.
struct Claim {
    Value value;  ///< the row
    Owner self;   ///< this server, with the row's number
    Owner owner;  ///< the owner that the row should have: `self`, or the last one in doubt
    Doubt doubt;
};

/// Whether this server was promoted, or recovered to a point in time, since it owned the mark.
bool was_promoted(const Owner& last, const Owner& self) {
    if (RecoveryInProgress()) return false;
    // pg_upgrade starts with the first timeline.
    const bool is_upgraded = last.system_identifier != self.system_identifier;
    const TimeLineID first_timeline = 1;
    return self.timeline != (is_upgraded ? first_timeline : last.timeline);
}

/// Whether the last number was configured, and none is now.
bool is_lost(const Owner& last, const ServerNumber& number) {
    return last.number > mark_table::no_number && number.is_of_database && !number.is_configured &&
           !number.is_citus_group;
}

Claim read_claim(Relation mark, const std::optional<ServerNumber>& number,
                 const Membership& membership) {
    const Value value = mark_table::read(mark);
    const Owner& last = value.owner;
    Owner self = mark_table::this_server(mark, last);
    self.citus_group = membership.is_in_cluster() ? membership.group.value_or(mark_table::no_group)
                                                  : mark_table::no_group;

    // pg_upgrade creates another table, but does not confirm the server.
    if (last.system_identifier != self.system_identifier &&
        (last.creation_xid == self.creation_xid || !last.is_confirmed)) {
        Owner owner = last;
        owner.is_confirmed = false;
        return {value, self, owner, Doubt::is_copy};
    }
    Owner owner = self;
    if (was_promoted(last, self)) {
        // Citus promotes a clone before it changes the clone's group.
        if (membership.has_clone) return {value, self, last, Doubt::may_be_clone};
        const bool is_in_cluster = self.citus_group != mark_table::no_group;
        if (is_in_cluster && self.citus_group != last.citus_group) owner.is_confirmed = false;
    }
    // Citus gives each node a group of its own.
    const bool is_unique = owner.is_confirmed || (number && number->is_citus_group);
    if (!is_unique) return {value, self, owner, Doubt::was_clone};
    const bool is_number_lost = number && is_lost(last, *number);
    return {value, self, owner, is_number_lost ? Doubt::is_number_lost : Doubt::none};
}

/// Replace the mark's owner, unless another session has changed it since `known` was read. Return
/// whether it is the given one.
bool set_owner(Relation mark, const Value& known, const Owner& owner) {
    Assert(!RecoveryInProgress());
    if (known.owner == owner) return true;
    const Value present = mark_table::update(mark, [&](Value now) {
        if (now.owner == known.owner) now.owner = owner;
        return now;
    });
    return present.owner == owner;
}

/// What the row records of a number. Without a configured one, servers have the number 0, so that
/// number is not missed.
int32 to_column(const ServerNumber& number) {
    Assert(number.is_of_database);
    return number.is_configured ? static_cast<int32>(number.value) : mark_table::no_number;
}

/// The doubt about this server, as the predicate of a sentence.
const char* describe(const Claim& claim) {
    switch (claim.doubt) {
        case Doubt::is_copy:
            return psprintf("is a copy of the server with system identifier %llu",
                            static_cast<unsigned long long>(claim.owner.system_identifier));
        case Doubt::was_clone:
            return "was a clone of another node of the Citus cluster";
        case Doubt::may_be_clone:
            return psprintf(
                "was promoted after its last IDs, and Citus lists a clone of its "
                "group %d",
                claim.self.citus_group);
        case Doubt::is_number_lost:
            return psprintf("no longer has the configured number %d of its last IDs",
                            claim.owner.number);
        case Doubt::none:
            break;
    }
    pg_unreachable();
}

[[noreturn]] void report(const Claim& claim) {
    ereport(
        ERROR,
        (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
         errmsg("another server may generate equal IDs"),
         errdetail("This server %s.", describe(claim)),
         claim.doubt == Doubt::may_be_clone
             ? errhint("Try again when Citus has promoted the clone. If this server is not the "
                       "clone, promote or remove the clone, or call snowdrift.confirm_node() as a "
                       "superuser.")
         : claim.doubt == Doubt::is_number_lost
             ? errhint("Set the number on this server, for example with ALTER SYSTEM SET "
                       "snowdrift.node = %d. If no number is needed, call snowdrift.confirm_node() "
                       "as a superuser.",
                       claim.owner.number)
             : errhint("Set a number that no other server has in snowdrift.node, for example with "
                       "ALTER SYSTEM, and replace generators that have a node of their own. Then "
                       "call snowdrift.confirm_node() as a superuser.")));
}

}  // namespace

void own_mark(Relation mark) {
    const Claim claim = read_claim(mark, std::nullopt, citus::read_membership());
    (void)set_owner(mark, claim.value, claim.owner);
}

void check_confirmed(Relation mark, const std::optional<ServerNumber>& number,
                     const Membership& membership) {
    // The number that this session has recorded. The session keeps it when others record another
    // one: after ALTER DATABASE, open sessions still have the previous setting.
    static std::optional<ServerNumber> recorded;
    for (;;) {
        const Claim claim = read_claim(mark, number, membership);
        const bool is_kept =
            number && recorded == number && claim.owner.number != mark_table::unknown_number;
        const bool is_doubted =
            claim.doubt != Doubt::none && !(is_kept && claim.doubt == Doubt::is_number_lost);
        const bool is_new = !is_doubted && number && number->is_of_database && !is_kept;
        Owner owner = claim.owner;
        if (is_new) owner.number = to_column(*number);
        if (!set_owner(mark, claim.value, owner)) continue;
        if (is_doubted) report(claim);
        if (is_new) recorded = number;
        return;
    }
}

const char* find_doubt(Relation mark, const ServerNumber& number, const Membership& membership) {
    const Claim claim = read_claim(mark, number, membership);
    return claim.doubt == Doubt::none ? nullptr : psprintf("this server %s", describe(claim));
}

void confirm_owner(Relation mark, const std::optional<ServerNumber>& number,
                   const Membership& membership) {
    for (;;) {
        const Claim claim = read_claim(mark, number, membership);
        Owner owner = claim.self;
        owner.is_confirmed = true;
        if (owner.number > mark_table::no_number) {
            if (number && !number->is_of_database)
                ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                                errmsg("cannot confirm the number of a role or session"),
                                errhint("Call snowdrift.confirm_node() in a session in which "
                                        "snowdrift.node is not set for the role or session.")));
            owner.number = number ? to_column(*number) : mark_table::no_number;
        }
        if (set_owner(mark, claim.value, owner)) return;
    }
}

}  // namespace snowdrift
