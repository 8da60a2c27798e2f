// What an ID's cost is measured against: a function that does nothing, one that reads the clock,
// and one that reads the clock and does one atomic operation.
#include <algorithm>
#include <atomic>

#include "pg/support/clock.hpp"
#include "pg/support/postgres.hpp"

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
    Call(Oid function, NullableDatum argument)
        : call_{static_cast<FunctionCallInfo>(palloc(SizeForFunctionCallInfo(1)))} {
        auto* const info = static_cast<FmgrInfo*>(palloc(sizeof(FmgrInfo)));
        fmgr_info(function, info);
        InitFunctionCallInfoData(*call_, info, argument.isnull ? 0 : 1, InvalidOid, nullptr,
                                 nullptr);
        call_->args[0] = argument;
    }

    void operator()() const {
        call_->isnull = false;
        (void)FunctionCallInvoke(call_);
    }

    void operator()(Datum argument) const {
        call_->args[0].value = argument;
        (*this)();
    }

 private:
    FunctionCallInfo call_;
};

/// So many calls find room in every format's millisecond, which has 4096 IDs or more.
constexpr int32 burst = 1000;

/// What a call took in each of several bursts, in nanoseconds.
struct Bursts {
    double* ns;
    int32 count;

    double mean() const {
        double sum = 0;
        for (int32 i = 0; i < count; ++i) sum += ns[i];
        return sum / count;
    }

    double median() const {
        std::nth_element(ns, ns + count / 2, ns + count);
        return ns[count / 2];
    }
};

/// Makes `calls` calls in bursts, and frees what each burst left behind. `between` comes before a
/// burst and doesn't count.
template <typename Make, typename Between>
Bursts measure(int32 calls, Make make, Between between) {
    const int32 count = Max(calls / burst, 1);
    const Bursts result{static_cast<double*>(palloc(sizeof(double) * count)), count};
    MemoryContext scratch =
        AllocSetContextCreate(CurrentMemoryContext, "snowdrift benchmark", ALLOCSET_DEFAULT_SIZES);
    MemoryContext outer = MemoryContextSwitchTo(scratch);
    for (int32 i = 0; i < count; ++i) {
        between();
        const int64_t begin = clock::now_ns();
        for (int32 j = 0; j < burst; ++j) make(i * burst + j);
        MemoryContextReset(scratch);
        result.ns[i] = static_cast<double>(clock::now_ns() - begin) / burst;
        CHECK_FOR_INTERRUPTS();
    }
    MemoryContextSwitchTo(outer);
    MemoryContextDelete(scratch);
    return result;
}

void spin_until_next_ms() {
    const int64_t now = clock::now_ms();
    while (clock::now_ms() == now) {
    }
}

/// bench_ns_per_call(function oid, calls int, argument anyelement) → double precision: the mean of
/// thousands of calls without a pause.
SNOWDRIFT_FUNCTION(bench_ns_per_call) {
    const Call call{PG_GETARG_OID(0), {PG_GETARG_DATUM(2), PG_ARGISNULL(2)}};
    PG_RETURN_FLOAT8(measure(
                         PG_GETARG_INT32(1), [&](int32) { call(); }, [] {})
                         .mean());
}

/// bench_ns_per_paced_call(function oid, calls int, argument anyelement) → double precision: the
/// calls come in bursts of a thousand, each at the beginning of a millisecond, so none waits
/// because a millisecond's IDs are used up. The median of the bursts: what happens now and then, as
/// raising the mark does, would weigh too much in so little work.
SNOWDRIFT_FUNCTION(bench_ns_per_paced_call) {
    const Call call{PG_GETARG_OID(0), {PG_GETARG_DATUM(2), PG_ARGISNULL(2)}};
    PG_RETURN_FLOAT8(measure(
                         PG_GETARG_INT32(1), [&](int32) { call(); }, spin_until_next_ms)
                         .median());
}

/// bench_ns_per_name(function oid, calls int, names text[]) → double precision: the names take
/// turns as the argument.
SNOWDRIFT_FUNCTION(bench_ns_per_name) {
    Datum* names;
    int count;
    deconstruct_array(PG_GETARG_ARRAYTYPE_P(2), TEXTOID, -1, false, TYPALIGN_INT, &names, nullptr,
                      &count);
    const Call call{PG_GETARG_OID(0), {names[0], false}};
    PG_RETURN_FLOAT8(measure(
                         PG_GETARG_INT32(1), [&](int32 i) { call(names[i % count]); }, [] {})
                         .mean());
}
