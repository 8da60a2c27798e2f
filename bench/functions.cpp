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

/// A call of `function` as the executor makes it, again and again.
class Call {
 public:
    Call(Oid function, NullableDatum argument) {
        fmgr_info(function, &info_);
        InitFunctionCallInfoData(call(), &info_, argument.isnull ? 0 : 1, InvalidOid, nullptr,
                                 nullptr);
        call().args[0] = argument;
    }

    void operator()() {
        call().isnull = false;
        (void)FunctionCallInvoke(&call());
    }

 private:
    FunctionCallInfoBaseData& call() { return call_.fcinfo; }

    FmgrInfo info_;
    union {
        FunctionCallInfoBaseData fcinfo;
        char room[SizeForFunctionCallInfo(1)];
    } call_;
};

/// So many calls find room in every format's millisecond, which has 4096 IDs or more.
constexpr int32 burst = 1024;

void spin_until_next_ms() {
    const int64_t now = clock::now_ms();
    while (clock::now_ms() == now) {
    }
}

/// bench_ns_per_call(function oid, calls int, paced boolean, argument anyelement)
/// → double precision: what a call takes. Paced calls come in bursts, one a millisecond, of which
/// only the bursts count: so calls never wait because a millisecond's IDs are used up.
SNOWDRIFT_FUNCTION(bench_ns_per_call) {
    Call call{PG_GETARG_OID(0), {PG_GETARG_DATUM(3), PG_ARGISNULL(3)}};
    const int32 bursts = PG_GETARG_INT32(1) / burst;
    const bool paced = PG_GETARG_BOOL(2);

    MemoryContext scratch =
        AllocSetContextCreate(CurrentMemoryContext, "snowdrift benchmark", ALLOCSET_DEFAULT_SIZES);
    MemoryContext outer = MemoryContextSwitchTo(scratch);
    int64_t ns = 0;
    for (int32 i = 0; i < bursts; ++i) {
        if (paced) spin_until_next_ms();
        const int64_t begin = clock::now_ns();
        for (int32 j = 0; j < burst; ++j) call();
        MemoryContextReset(scratch);
        ns += clock::now_ns() - begin;
        CHECK_FOR_INTERRUPTS();
    }
    MemoryContextSwitchTo(outer);
    MemoryContextDelete(scratch);
    PG_RETURN_FLOAT8(static_cast<double>(ns) / bursts / burst);
}
