// The library's entry point, which PostgreSQL calls when a process loads the library.
#include "pg/support/postgres.hpp"

#include "pg/slots/slots.hpp"
#include "pg/support/settings.hpp"

extern "C" {
PG_MODULE_MAGIC_EXT(.name = "snowdrift", .version = CppAsString2(SNOWDRIFT_VERSION));
PGDLLEXPORT void _PG_init(void);
}

void _PG_init(void) {
    snowdrift::settings::define();
    if (process_shared_preload_libraries_in_progress) snowdrift::slots::reserve();
}
