// Callbacks for relcache invalidations. PostgreSQL has room for ten in a session, all extensions
// included, so the library registers one and dispatches it.
#pragma once

#include "pg/support/postgres.hpp"

namespace snowdrift {

/// Calls `callback(relation)` whenever the relation may have changed; InvalidOid stands for all
/// relations. Adding a callback again has no effect. Callbacks must not raise errors or read
/// catalogs.
void add_relcache_callback(void (*callback)(Oid relation));

}  // namespace snowdrift
