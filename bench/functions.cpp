// What an ID's cost is measured against: a function that does nothing, one that reads the clock,
// and one that reads the clock and does one atomic operation.
#include <atomic>

#include "pg/clock.hpp"
#include "pg/postgres.hpp"

extern "C" {
#include "utils/memutils.h"
}

using namespace snowdrift;

extern "C" {
PG_MODULE_MAGIC;
}

SNOWDRIFT_FUNCTION(bench_noop) { PG_RETURN_INT64(1); }

SNOWDRIFT_FUNCTION(bench_clock) { PG_RETURN_INT64(clock::now_ms()); }

SNOWDRIFT_FUNCTION(bench_clock_and_atomic) {
    alignas(64) static std::atomic<uint64_t> word{0};
    const int64_t now = clock::now_ms();
    PG_RETURN_INT64(now + static_cast<int64_t>(word.fetch_add(1, std::memory_order_relaxed)));
}

/// bench_ns_per_call(function oid, calls int, argument anyelement) → double precision:
/// calls the function as the executor does; frees what the calls leave behind now and then.
SNOWDRIFT_FUNCTION(bench_ns_per_call) {
    const Oid function = PG_GETARG_OID(0);
    const int32 calls = PG_GETARG_INT32(1);
    const bool has_argument = !PG_ARGISNULL(2);

    FmgrInfo info;
    fmgr_info(function, &info);
    LOCAL_FCINFO(call, 1);
    InitFunctionCallInfoData(*call, &info, has_argument ? 1 : 0, InvalidOid, nullptr, nullptr);
    call->args[0].value = has_argument ? PG_GETARG_DATUM(2) : Datum{0};
    call->args[0].isnull = false;

    MemoryContext scratch =
        AllocSetContextCreate(CurrentMemoryContext, "snowdrift benchmark", ALLOCSET_DEFAULT_SIZES);
    MemoryContext outer = MemoryContextSwitchTo(scratch);
    const int64_t begin = clock::now_ns();
    for (int32 i = 0; i < calls; ++i) {
        if (i % 1024 == 0) MemoryContextReset(scratch);
        call->isnull = false;
        (void)FunctionCallInvoke(call);
    }
    const int64_t end = clock::now_ns();
    MemoryContextSwitchTo(outer);
    MemoryContextDelete(scratch);
    PG_RETURN_FLOAT8(static_cast<double>(end - begin) / calls);
}
