// Runs each operation of the core under valgrind --tool=callgrind, and dumps the counts of each.
#include <valgrind/callgrind.h>

#include "core_operations.hpp"

int main() {
    using snowdrift::bench::Operation;
    snowdrift::bench::for_each_operation([](const Operation& operation) {
        operation.run();
        CALLGRIND_ZERO_STATS;
        operation.run();
        CALLGRIND_DUMP_STATS_AT(operation.name);
    });
}
