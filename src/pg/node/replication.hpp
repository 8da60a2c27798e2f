// Logical replication, by PostgreSQL's subscriptions or by other software such as pglogical. The
// processes that apply another server's changes have a replication origin (has_replication_origin()
// in versions.hpp), also for the initial copy.
#pragma once

#include "pg/support/trigger.hpp"

namespace snowdrift::replication {

/// Returns what shows that this database may take part in logical replication, as a sentence for
/// the detail of a message; null if nothing does.
const char* find_sign();

/// Ensures that a trigger's row was not written with session_replication_role = replica, as
/// software that replicates rows without a replication origin does. Raises 55000.
void check_not_replicated(const TriggerData& trigger);

}  // namespace snowdrift::replication
