// What an ID's cost is measured against: a function that does nothing, one that reads the clock,
// and one that reads the clock and does one atomic operation.
#include <atomic>

#include "pg/clock.hpp"
#include "pg/postgres.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "utils/array.h"
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
        InitFunctionCallInfoData(call_.info, &info_, argument.isnull ? 0 : 1, InvalidOid, nullptr,
                                 nullptr);
        call_.info.args[0] = argument;
    }

    void operator()() {
        call_.info.isnull = false;
        (void)FunctionCallInvoke(&call_.info);
    }

    void operator()(Datum argument) {
        call_.info.args[0].value = argument;
        (*this)();
    }

 private:
    FmgrInfo info_;
    union {
        FunctionCallInfoBaseData info;
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

/// Nanoseconds that each of `calls` calls takes, made in bursts. What the calls leave behind is
/// freed after each, and `between` comes before, which doesn't count.
template <typename Make, typename Between>
double ns_per_call(int32 calls, Make make, Between between) {
    MemoryContext scratch =
        AllocSetContextCreate(CurrentMemoryContext, "snowdrift benchmark", ALLOCSET_DEFAULT_SIZES);
    MemoryContext outer = MemoryContextSwitchTo(scratch);
    int64_t ns = 0;
    for (int32 done = 0; done < calls; done += burst) {
        between();
        const int32 end = Min(calls, done + burst);
        const int64_t begin = clock::now_ns();
        for (int32 i = done; i < end; ++i) make(i);
        MemoryContextReset(scratch);
        ns += clock::now_ns() - begin;
        CHECK_FOR_INTERRUPTS();
    }
    MemoryContextSwitchTo(outer);
    MemoryContextDelete(scratch);
    return static_cast<double>(ns) / calls;
}

/// bench_ns_per_call(function oid, calls int, paced boolean, argument anyelement)
/// → double precision. Paced calls come in bursts, one a millisecond, of which only the bursts
/// count: so no call waits because a millisecond's IDs are used up.
SNOWDRIFT_FUNCTION(bench_ns_per_call) {
    Call call{PG_GETARG_OID(0), {PG_GETARG_DATUM(3), PG_ARGISNULL(3)}};
    const bool paced = PG_GETARG_BOOL(2);
    PG_RETURN_FLOAT8(ns_per_call(
        PG_GETARG_INT32(1), [&](int32) { call(); },
        [&] {
            if (paced) spin_until_next_ms();
        }));
}

/// bench_ns_per_name(function oid, calls int, names text[]) → double precision: the names take
/// turns as the argument.
SNOWDRIFT_FUNCTION(bench_ns_per_name) {
    Datum* names;
    int count;
    deconstruct_array(PG_GETARG_ARRAYTYPE_P(2), TEXTOID, -1, false, TYPALIGN_INT, &names, nullptr,
                      &count);
    Call call{PG_GETARG_OID(0), {names[0], false}};
    PG_RETURN_FLOAT8(ns_per_call(
        PG_GETARG_INT32(1), [&](int32 i) { call(names[i % count]); }, [] {}));
}
