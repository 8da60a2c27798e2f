// Runs the operations of the core under Google Benchmark, and accepts its options.
#include <benchmark/benchmark.h>

#include "core_operations.hpp"

int main(int argc, char** argv) {
    using snowdrift::bench::Operation;
    snowdrift::bench::for_each_operation([](const Operation& operation) {
        benchmark::RegisterBenchmark(operation.name, [operation](benchmark::State& state) {
            for (auto _ : state) operation.run();
            state.SetItemsProcessed(state.iterations() *
                                    static_cast<int64_t>(snowdrift::bench::count));
        });
    });
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
}
