// The library's entry: what happens when a server process loads it, and the settings.
#include "pg/support/postgres.hpp"

#include <climits>

extern "C" {
#include "utils/guc.h"
}

#include "pg/memory/slots.hpp"
#include "pg/support/settings.hpp"

extern "C" {
PG_MODULE_MAGIC;
PGDLLEXPORT void _PG_init(void);
}

void _PG_init(void) {
    snowdrift::settings::define();
    if (process_shared_preload_libraries_in_progress) snowdrift::slots::reserve();
}

namespace snowdrift::settings {

int node = 0;
int max_clock_lead = 0;

void define() {
    DefineCustomIntVariable(
        "snowdrift.node", "The server's number, part of every ID it generates.",
        "Servers whose IDs must not collide need different numbers. In the classic Snowflake "
        "layout it is datacenter * 32 + worker.",
        &node, 0, 0, 65535, PGC_SUSET, 0, nullptr, nullptr, nullptr);
    DefineCustomIntVariable(
        "snowdrift.max_clock_lead",
        "How far the last ID may lead the server's clock before generation is refused.",
        "After a clock was set back, IDs go on from the last ID's time. 0 refuses whenever the "
        "clock is behind.",
        &max_clock_lead, 60 * 1000, 0, INT_MAX, PGC_SUSET, GUC_UNIT_MS, nullptr, nullptr, nullptr);
    MarkGUCPrefixReserved("snowdrift");
}

}  // namespace snowdrift::settings
