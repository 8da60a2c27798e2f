#include "pg/support/relcache_callback.hpp"

#include <algorithm>

extern "C" {
#include "utils/inval.h"
}

namespace snowdrift {
namespace {

constexpr int max_callbacks = 4;

void (*callbacks[max_callbacks])(Oid);
int callback_count = 0;

void dispatch(Datum, Oid relation) {
    for (int i = 0; i < callback_count; ++i) callbacks[i](relation);
}

}  // namespace

void add_relcache_callback(void (*callback)(Oid relation)) {
    if (std::find(callbacks, callbacks + callback_count, callback) != callbacks + callback_count)
        return;
    if (callback_count == max_callbacks) elog(ERROR, "too many relcache callbacks");
    if (callback_count == 0) CacheRegisterRelcacheCallback(dispatch, Datum{0});
    callbacks[callback_count++] = callback;
}

}  // namespace snowdrift
