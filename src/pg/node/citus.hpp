// This server's place in a Citus cluster, from Citus' own tables.
#pragma once

#include <optional>

#include "pg/support/postgres.hpp"

namespace snowdrift::citus {

/// The node of a Citus cluster that the current database is.
struct Membership {
    bool has_citus;              ///< the database has the extension Citus
    std::optional<int32> group;  ///< the node's group id, 0 on the coordinator; none while Citus is
                                 ///< being upgraded
    bool has_nodes;              ///< the list of nodes is not empty
    bool has_other_nodes;        ///< the cluster has a node with another group id
    bool has_clone;              ///< a node of the group has a clone that is not yet promoted

    bool is_in_cluster() const { return has_citus && (group != 0 || has_other_nodes); }
};

/// Reads the membership, and from then on increments settings::node_version when it may have
/// changed.
Membership read_membership();

}  // namespace snowdrift::citus
