// The functions of node.hpp, and the SQL functions snowdrift.read_node(), which the view
// snowdrift.node shows, and snowdrift.confirm_node().
#include "pg/node/node.hpp"

#include <unistd.h>

#include <charconv>
#include <cstring>
#include <string_view>

#include "pg/mark/mark.hpp"
#include "pg/node/citus.hpp"
#include "pg/node/replication.hpp"
#include "pg/record/record.hpp"
#include "pg/slots/slots.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/row.hpp"
#include "pg/support/settings.hpp"

extern "C" {
#include "commands/dbcommands.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
}

namespace snowdrift {
namespace {

using Source = settings::Node::Source;

/// The server's number, and where it comes from. Without a number, `detail` says why.
struct ServerNode {
    std::optional<uint32_t> number;
    const char* detail;
};

/// Whether a setting applies to all sessions of the database.
bool is_of_database(GucSource source) { return source <= PGC_S_DATABASE; }

/// The number that the present setting gives.
ServerNumber present_number(uint32_t value, const citus::Membership& membership) {
    const Source source = settings::node.source;
    const bool may_be_group = source == Source::automatic || source == Source::citus;
    return {value, is_of_database(settings::node_source()), source != Source::automatic,
            may_be_group && membership.is_in_cluster()};
}

/// Whether Citus has opened this session on a worker without metadata, which seems to be a
/// coordinator without workers.
bool is_worker_without_metadata(const citus::Membership& membership) {
    return membership.group == 0 && !membership.has_nodes &&
           std::strncmp(application_name, "citus_", std::strlen("citus_")) == 0;
}

/// The number with the setting's offset.
ServerNode with_offset(uint64_t number, const char* detail) {
    if (number <= settings::max_node_number - settings::node.number)
        return {static_cast<uint32_t>(number + settings::node.number), detail};
    return {std::nullopt, psprintf("the number exceeds %u", settings::max_node_number)};
}

ServerNode from_citus(const citus::Membership& membership) {
    if (!membership.has_citus) return {std::nullopt, "the database is not in a Citus cluster"};
    if (!membership.group) return {std::nullopt, "Citus is being upgraded"};
    if (is_worker_without_metadata(membership))
        return {std::nullopt, "Citus has not synchronized its metadata to this node"};
    return with_offset(static_cast<uint64_t>(*membership.group),
                       psprintf("group %d of the Citus cluster", *membership.group));
}

/// The details don't contain the host's name, which not every role may know.
ServerNode from_hostname() {
    char name[256];
    if (gethostname(name, sizeof(name)) != 0) name[0] = '\0';
    name[sizeof(name) - 1] = '\0';
    const std::string_view host{name};
    const size_t digits = host.size() - (host.find_last_not_of("0123456789") + 1);
    const char* const end = host.data() + host.size();
    uint64_t number = 0;
    if (digits == 0 || std::from_chars(end - digits, end, number).ec != std::errc{})
        return {std::nullopt, "the host name does not end with a number"};
    return with_offset(number, "number at the end of the host name");
}

/// The level at which snowdrift.node was set, if that is not the server.
const char* level_of(GucSource source) {
    if (source == PGC_S_DATABASE || source == PGC_S_GLOBAL) return "database";
    return source < PGC_S_SESSION ? "role or connection" : "session";
}

/// A number that was not set for the server can be the same on all nodes of a cluster.
ServerNode from_number(const citus::Membership& membership, GucSource source) {
    if (source <= PGC_S_ARGV) return {settings::node.number, "server configuration"};
    const char* const level = level_of(source);
    if (!membership.is_in_cluster())
        return {settings::node.number, psprintf("set for a %s", level)};
    return {std::nullopt,
            psprintf("a number set for a %s can be the same on all nodes of the Citus "
                     "cluster",
                     level)};
}

ServerNode find_server_node(const citus::Membership& membership) {
    const GucSource source = settings::node_source();
    if (source < settings::rejected_node_source)
        return {std::nullopt, "a value that was set was rejected"};
    if (settings::node.source == Source::number) return from_number(membership, source);
    // Sessions with different offsets would share numbers with other nodes.
    if (settings::node.source != Source::automatic && !is_of_database(source) &&
        membership.is_in_cluster())
        return {std::nullopt,
                psprintf("in a Citus cluster, it cannot be set for a %s", level_of(source))};
    switch (settings::node.source) {
        case Source::citus:
            return from_citus(membership);
        case Source::hostname:
            return from_hostname();
        default:
            if (membership.has_citus) return from_citus(membership);
            return {0, "default number"};
    }
}

/// Log, once per start of the server, that this database may take part in logical replication but
/// the server has no number of its own.
void log_missing_number(const citus::Membership& membership) {
    if (settings::node.source != Source::automatic || membership.has_citus) return;
    slots::Slot& slot = mark::slot();
    if (slot.is_noticed != 0) return;
    const char* const sign = replication::find_sign();
    if (sign == nullptr || !slot.first_time()) return;
    ereport(LOG,
            (errmsg("database \"%s\" may take part in logical replication, but this server has no "
                    "number for its IDs",
                    get_database_name(MyDatabaseId)),
             errdetail("%s Servers with the same number can generate equal Snowflake and sno IDs.",
                       sign),
             errhint("If several servers generate IDs, give each one its own number in "
                     "snowdrift.node. If only this one does, set it to 0."),
             errhidestmt(true), errhidecontext(true)));
}

}  // namespace

uint32_t server_number(Relation table) {
    const citus::Membership membership = citus::read_membership();
    const ServerNode node = find_server_node(membership);
    if (!node.number)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("this server has no number for its IDs"),
                        errdetail("snowdrift.node is \"%s\", but %s.",
                                  GetConfigOption("snowdrift.node", false, false), node.detail),
                        errhint("Set snowdrift.node in the configuration of each server, for "
                                "example with ALTER SYSTEM, or to \"auto\".")));
    check_confirmed(table, present_number(*node.number, membership), membership);
    log_missing_number(membership);
    Assert(*node.number <= settings::max_node_number);
    return *node.number;
}

uint32_t node_for(const SnowflakeLayout& layout, Relation table) {
    if (layout.node_bits() == 0) return 0;
    const uint32_t number = server_number(table);
    if (number > layout.max_node())
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("snowdrift.node %u is out of range 0 .. %u for this layout", number,
                               layout.max_node()),
                        errdetail("The layout has %d datacenter bits and %d worker bits.",
                                  layout.datacenter_bits, layout.worker_bits)));
    return number;
}

std::optional<ServerNumber> find_server_number(const citus::Membership& membership) {
    const auto number = find_server_node(membership).number;
    if (!number) return std::nullopt;
    return present_number(*number, membership);
}

}  // namespace snowdrift

using namespace snowdrift;

/// snowdrift.read_node() → number, source, detail
SNOWDRIFT_FUNCTION(read_node) {
    const citus::Membership membership = citus::read_membership();
    ServerNode node = find_server_node(membership);
    if (node.number) {
        Relation table = record::open(AccessShareLock);
        const auto doubt = find_doubt(table, present_number(*node.number, membership), membership);
        relation_close(table, AccessShareLock);
        if (doubt != nullptr) node = {std::nullopt, doubt};
    }
    std::optional<Datum> number;
    if (node.number) number = Int32GetDatum(static_cast<int32>(*node.number));
    return make_row(fcinfo,
                    {number, CStringGetTextDatum(GetConfigOption("snowdrift.node", false, false)),
                     CStringGetTextDatum(node.detail)});
}

/// snowdrift.confirm_node() → void
SNOWDRIFT_FUNCTION(confirm_node) {
    PreventCommandIfReadOnly("snowdrift.confirm_node()");
    const citus::Membership membership = citus::read_membership();
    (void)mark::attach();
    Relation table = record::open();
    confirm_owner(table, find_server_number(membership), membership);
    relation_close(table, RowExclusiveLock);
    PG_RETURN_VOID();
}
