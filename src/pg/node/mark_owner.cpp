#include "pg/node/mark_owner.hpp"

#include "pg/record/record.hpp"
#include "pg/support/postgres.hpp"

extern "C" {
#include "access/xlog.h"
}

namespace snowdrift {
namespace {

using citus::Membership;
using record::Row;

/// Owner::number before the first ID that contains a number.
constexpr int32 unknown_number = -1;

/// Owner::number if none was configured, or 0.
constexpr int32 no_number = 0;

/// Owner::citus_group outside a Citus cluster.
constexpr int32 no_group = -1;

/// What the record says of the server whose IDs the mark covers.
struct Owner {
    uint64_t system_identifier;  ///< as in pg_control
    TransactionId creation_xid;  ///< that created the table: the same in a copy of the server's
                                 ///< files, another one after pg_upgrade
    TimeLineID timeline;         ///< of its WAL: a promoted standby has a later one
    int32 citus_group;           ///< its group in a Citus cluster, or no_group
    int32 number;                ///< configured for the whole database at its last IDs,
                                 ///< no_number or unknown_number
    bool is_confirmed;           ///< false on a copy or a clone, until a superuser confirms it

    bool operator==(const Owner&) const = default;
};

Owner recorded_owner(const Row& row) {
    return {static_cast<uint64_t>(row.system_identifier),
            row.creation_xid,
            static_cast<TimeLineID>(row.timeline),
            row.citus_group,
            row.number,
            row.confirmed};
}

/// This server as the owner after `last`: with its own identifiers, timeline and group, and the
/// other fields of `last`. During recovery, with the timeline of `last`.
Owner this_server(Relation table, const Owner& last, const Membership& membership) {
    Owner self = last;
    self.system_identifier = GetSystemIdentifier();
    self.creation_xid = record::creator_of(table);
    if (!RecoveryInProgress()) self.timeline = GetWALInsertionTimeLine();
    self.citus_group = membership.is_in_cluster() ? membership.group.value_or(no_group) : no_group;
    return self;
}

/// Why another server may generate equal IDs.
enum class Doubt : uint8_t { none, is_copy, was_clone, may_be_clone, is_number_lost };

/// What the record says of this server and its number.
struct Claim {
    Owner last;   ///< in the record
    Owner self;   ///< this server, with the record's number
    Owner owner;  ///< the owner that the record should have: `self`, or the last one in doubt
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
    return last.number > no_number && number.is_of_database && !number.is_configured &&
           !number.is_citus_group;
}

Claim read_claim(Relation table, const std::optional<ServerNumber>& number,
                 const Membership& membership) {
    const Owner last = recorded_owner(record::read(table));
    const Owner self = this_server(table, last, membership);

    // pg_upgrade creates another table, but does not confirm the server.
    if (last.system_identifier != self.system_identifier &&
        (last.creation_xid == self.creation_xid || !last.is_confirmed)) {
        Owner owner = last;
        owner.is_confirmed = false;
        return {last, self, owner, Doubt::is_copy};
    }
    Owner owner = self;
    if (was_promoted(last, self)) {
        // Citus promotes a clone before it changes the clone's group.
        if (membership.has_clone) return {last, self, last, Doubt::may_be_clone};
        const bool is_in_cluster = self.citus_group != no_group;
        if (is_in_cluster && self.citus_group != last.citus_group) owner.is_confirmed = false;
    }
    // Citus gives each node a group of its own.
    const bool is_unique = owner.is_confirmed || (number && number->is_citus_group);
    if (!is_unique) return {last, self, owner, Doubt::was_clone};
    const bool is_number_lost = number && is_lost(last, *number);
    return {last, self, owner, is_number_lost ? Doubt::is_number_lost : Doubt::none};
}

/// Replace the owner, unless another session has changed it since `last` was read. Return whether
/// the record now has `owner`.
bool set_owner(Relation table, const Owner& last, const Owner& owner) {
    Assert(!RecoveryInProgress());
    if (last == owner) return true;
    const Row present = record::update(table, [&](Row& row) {
        if (recorded_owner(row) != last) return;
        row.system_identifier = static_cast<int64>(owner.system_identifier);
        row.creation_xid = owner.creation_xid;
        row.timeline = static_cast<int32>(owner.timeline);
        row.citus_group = owner.citus_group;
        row.number = owner.number;
        row.confirmed = owner.is_confirmed;
    });
    return recorded_owner(present) == owner;
}

/// What the record contains for a number. Servers without a configured number have the number 0, so
/// the loss of a configured 0 does not matter.
int32 to_column(const ServerNumber& number) {
    Assert(number.is_of_database);
    return number.is_configured ? static_cast<int32>(number.value) : no_number;
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

void own_mark(Relation table) {
    const Claim claim = read_claim(table, std::nullopt, citus::read_membership());
    (void)set_owner(table, claim.last, claim.owner);
}

void check_confirmed(Relation table, const std::optional<ServerNumber>& number,
                     const Membership& membership) {
    // The number that this session has recorded. The session keeps it when others record another
    // one: after ALTER DATABASE, open sessions still have the previous setting.
    static std::optional<ServerNumber> recorded;
    for (;;) {
        const Claim claim = read_claim(table, number, membership);
        const bool is_kept = number && recorded == number && claim.owner.number != unknown_number;
        const bool is_doubted =
            claim.doubt != Doubt::none && !(is_kept && claim.doubt == Doubt::is_number_lost);
        const bool is_new = !is_doubted && number && number->is_of_database && !is_kept;
        Owner owner = claim.owner;
        if (is_new) owner.number = to_column(*number);
        if (!set_owner(table, claim.last, owner)) continue;
        if (is_doubted) report(claim);
        if (is_new) recorded = number;
        return;
    }
}

const char* find_doubt(Relation table, const ServerNumber& number, const Membership& membership) {
    const Claim claim = read_claim(table, number, membership);
    return claim.doubt == Doubt::none ? nullptr : psprintf("this server %s", describe(claim));
}

void confirm_owner(Relation table, const std::optional<ServerNumber>& number,
                   const Membership& membership) {
    for (;;) {
        const Claim claim = read_claim(table, number, membership);
        Owner owner = claim.self;
        owner.is_confirmed = true;
        if (owner.number > no_number) {
            if (number && !number->is_of_database)
                ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                                errmsg("cannot confirm the number of a role or session"),
                                errhint("Call snowdrift.confirm_node() in a session in which "
                                        "snowdrift.node is not set for the role or session.")));
            owner.number = number ? to_column(*number) : no_number;
        }
        if (set_owner(table, claim.last, owner)) return;
    }
}

}  // namespace snowdrift
