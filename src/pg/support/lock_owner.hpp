// Locks that belong to a transaction, not to the cursor that takes them.
#pragma once

#include "pg/support/postgres.hpp"

extern "C" {
#include "utils/resowner.h"
}

namespace snowdrift {

/// Calls acquire(), and makes the locks that it takes those of `owner`: CurTransactionResourceOwner
/// until the subtransaction ends, or TopTransactionResourceOwner until the transaction ends. A
/// cursor's own locks would end with a later savepoint in which it fails.
template <typename Acquire>
void acquire_for(ResourceOwner owner, Acquire acquire) {
    auto* const caller = CurrentResourceOwner;
    CurrentResourceOwner = owner;
    acquire();
    CurrentResourceOwner = caller;
}

}  // namespace snowdrift
