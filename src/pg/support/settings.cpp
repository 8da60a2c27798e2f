#include "pg/support/settings.hpp"

#include "pg/support/postgres.hpp"

#include <climits>

extern "C" {
#include "utils/guc.h"
}

namespace snowdrift::settings {

int node = 0;
int max_clock_lead = 0;

void define() {
    DefineCustomIntVariable(
        "snowdrift.node", "Sets the server's number, which is part of its Snowflake IDs and snos.",
        "Servers whose IDs must not collide need different numbers. In the default Snowflake "
        "layout, the number is datacenter * 32 + worker.",
        &node, 0, 0, 65535, PGC_SUSET, 0, nullptr, nullptr, nullptr);
    DefineCustomIntVariable(
        "snowdrift.max_clock_lead", "Sets the maximum lead of the last ID over the server's clock.",
        "After the clock is set back, generation continues at the last ID's time up to this lead. "
        "Beyond it, calls wait up to one second or raise an error.",
        &max_clock_lead, 60 * 1000, 0, INT_MAX, PGC_SUSET, GUC_UNIT_MS, nullptr, nullptr, nullptr);
    MarkGUCPrefixReserved("snowdrift");
}

}  // namespace snowdrift::settings
