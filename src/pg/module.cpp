// The library's entry point, which PostgreSQL calls when a process loads the library.
#include "pg/support/postgres.hpp"

#include "pg/slots/slots.hpp"
#include "pg/support/settings.hpp"
#include "pg/watermark/lines.hpp"

extern "C" {
#include "storage/ipc.h"

PG_MODULE_MAGIC_EXT(.name = "snowdrift", .version = CppAsString2(SNOWDRIFT_VERSION));
PGDLLEXPORT void _PG_init(void);
}

namespace {

shmem_request_hook_type next_shmem_request_hook = nullptr;

void request_shmem() {
    if (next_shmem_request_hook) next_shmem_request_hook();
    snowdrift::slots::reserve();
    snowdrift::watermark::reserve();
}

}  // namespace

void _PG_init(void) {
    snowdrift::settings::define();
    if (!process_shared_preload_libraries_in_progress) return;
    next_shmem_request_hook = shmem_request_hook;
    shmem_request_hook = request_shmem;
}
