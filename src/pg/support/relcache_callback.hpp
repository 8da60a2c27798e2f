// Callbacks for relcache invalidations. PostgreSQL has room for ten in a session, all extensions
// included, so the library registers one and dispatches it.
#pragma once

#include <algorithm>

#include "pg/support/postgres.hpp"

extern "C" {
#include "utils/inval.h"
}

namespace snowdrift {

/// Calls `callback(relation)` whenever the relation may have changed; InvalidOid stands for all
/// relations. Adding a callback again has no effect. Callbacks must not raise errors or read
/// catalogs.
inline void add_relcache_callback(void (*callback)(Oid relation)) {
    constexpr int max_callbacks = 5;  // the number of calls in the sources
    static void (*callbacks[max_callbacks])(Oid);
    static int count = 0;
    if (std::find(callbacks, callbacks + count, callback) != callbacks + count) return;
    if (count == max_callbacks) elog(ERROR, "too many relcache callbacks");
    const auto dispatch = [](Datum, Oid relation) {
        for (int i = 0; i < count; ++i) callbacks[i](relation);
    };
    if (count == 0) CacheRegisterRelcacheCallback(dispatch, Datum{0});
    callbacks[count++] = callback;
}

}  // namespace snowdrift
