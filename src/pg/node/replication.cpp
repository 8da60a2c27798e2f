#include "pg/node/replication.hpp"

#include <string_view>

#include "pg/support/scan.hpp"

extern "C" {
#include "catalog/pg_publication_d.h"
#include "catalog/pg_replication_origin.h"
#include "catalog/pg_subscription.h"
#include "replication/slot.h"
#include "utils/builtins.h"
}

namespace snowdrift::replication {
namespace {

bool has_slots() {
    int slots;
    int active_slots;
    return ReplicationSlotsCountDBSlots(MyDatabaseId, &slots, &active_slots);
}

/// A publication has no slot before the first subscription, or if the subscriptions use a standby.
bool has_publications() {
    return find_tuple(PublicationRelationId, InvalidOid, {}, [](HeapTuple) { return true; });
}

bool has_subscriptions() {
    return find_tuple(SubscriptionRelationId, InvalidOid, {}, [](HeapTuple tuple) {
        return reinterpret_cast<Form_pg_subscription>(GETSTRUCT(tuple))->subdbid == MyDatabaseId;
    });
}

/// Origins belong to the server. The names of those of subscriptions, which belong to a database,
/// begin with "pg_", which PostgreSQL reserves.
bool has_other_origins() {
    return find_tuple(ReplicationOriginRelationId, InvalidOid, {}, [](HeapTuple tuple) {
        const auto* const origin = reinterpret_cast<Form_pg_replication_origin>(GETSTRUCT(tuple));
        return !std::string_view{text_to_cstring(&origin->roname)}.starts_with("pg_");
    });
}

}  // namespace

const char* find_sign() {
    if (has_slots()) return "The database has logical replication slots.";
    if (has_publications()) return "The database has publications.";
    if (has_subscriptions()) return "The database has subscriptions.";
    if (has_other_origins()) return "The server has replication origins.";
    return nullptr;
}

void check_not_replicated(const TriggerData& trigger) {
    if (SessionReplicationRole != SESSION_REPLICATION_ROLE_REPLICA) return;
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("cannot change table \"snowdrift_tables.%s\" while session_replication_role is "
                    "\"replica\"",
                    RelationGetRelationName(trigger.tg_relation)),
             errdetail("Rows that are replicated from another server could cause IDs to be "
                       "repeated."),
             errhint("Exclude the table from replication. To restore a dump, set "
                     "session_replication_role to \"origin\".")));
}

}  // namespace snowdrift::replication
