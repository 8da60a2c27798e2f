/*
 * AddressSanitizer in place of Valgrind: stands in for <valgrind/memcheck.h> and <valgrind/valgrind.h> when ./dev test
 * --sanitizers builds PostgreSQL with USE_VALGRIND. PostgreSQL's memory contexts and buffer manager tell Valgrind which
 * memory may be accessed; these definitions tell AddressSanitizer, which otherwise knows only malloc() and free(). It
 * then finds an access after pfree(), beyond the end of a chunk, or to a page that is not pinned.
 *
 * AddressSanitizer does not know whether memory is initialized, so requests about that do nothing.
 */
#ifndef SNOWDRIFT_MEMCHECK_H
#define SNOWDRIFT_MEMCHECK_H

#include <sanitizer/asan_interface.h>

#define VALGRIND_MAKE_MEM_NOACCESS(addr, size) __asan_poison_memory_region(addr, size)
#define VALGRIND_MAKE_MEM_DEFINED(addr, size) __asan_unpoison_memory_region(addr, size)
#define VALGRIND_MAKE_MEM_UNDEFINED(addr, size) __asan_unpoison_memory_region(addr, size)
#define VALGRIND_MEMPOOL_ALLOC(context, addr, size) __asan_unpoison_memory_region(addr, size)

/* The memory contexts also make the requests above, so pools need no record of their own. */
#define VALGRIND_CREATE_MEMPOOL(context, redzones, zeroed) ((void) 0)
#define VALGRIND_DESTROY_MEMPOOL(context) ((void) 0)
#define VALGRIND_MEMPOOL_FREE(context, addr) ((void) 0)
#define VALGRIND_MEMPOOL_CHANGE(context, from, to, size) ((void) 0)
#define VALGRIND_MEMPOOL_TRIM(context, addr, size) ((void) 0)

#define VALGRIND_CHECK_MEM_IS_DEFINED(addr, size) ((void) 0)
#define VALGRIND_COUNT_ERRORS 0
#define VALGRIND_PRINTF(...) ((void) 0)

#endif
