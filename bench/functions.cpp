// The baselines of an ID's cost: a function that does nothing, one that reads the clock, and one
// that reads the clock and does one atomic operation. Also the functions that time calls.
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

/// A repeatable call of `function`, made as the executor makes it.
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

/// The number of calls per burst. Each format has at least 4096 IDs per millisecond, so a burst
/// does not use them up.
constexpr int32 burst = 1000;

/// The nanoseconds per call in each of several bursts.
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

/// Makes `calls` calls in bursts, and frees the memory that each burst allocated. Calls `between`
/// before each burst, without timing it.
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
/// consecutive calls without a pause.
SNOWDRIFT_FUNCTION(bench_ns_per_call) {
    const Call call{PG_GETARG_OID(0), {PG_GETARG_DATUM(2), PG_ARGISNULL(2)}};
    PG_RETURN_FLOAT8(measure(
                         PG_GETARG_INT32(1), [&](int32) { call(); }, [] {})
                         .mean());
}

/// bench_ns_per_paced_call(function oid, calls int, argument anyelement) → double precision: the
/// median of bursts of 1000 calls. Each burst starts at the beginning of a millisecond, so that no
/// call waits because a millisecond's IDs are used up. The median ignores rare events, such as
/// advancing the mark, which would distort the mean of so few calls.
SNOWDRIFT_FUNCTION(bench_ns_per_paced_call) {
    const Call call{PG_GETARG_OID(0), {PG_GETARG_DATUM(2), PG_ARGISNULL(2)}};
    PG_RETURN_FLOAT8(measure(
                         PG_GETARG_INT32(1), [&](int32) { call(); }, spin_until_next_ms)
                         .median());
}

/// bench_ns_per_name(function oid, calls int, names text[]) → double precision: the mean of
/// consecutive calls, with the names as arguments in turn.
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
