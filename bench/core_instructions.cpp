// The core's operations once each, for valgrind --tool=callgrind: a dump of the counts for each.
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
