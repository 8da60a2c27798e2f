#include "pg/generators/node.hpp"

#include "pg/support/postgres.hpp"
#include "pg/support/settings.hpp"

namespace snowdrift {

uint32_t node_for(const SnowflakeLayout& layout) {
    if (layout.node_bits() == 0) return 0;
    const auto max_node = static_cast<int>(layout.max_node());
    if (settings::node > max_node)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("snowdrift.node %d is out of range 0 .. %d for this layout",
                               settings::node, max_node),
                        errdetail("The layout has %d datacenter bits and %d worker bits.",
                                  layout.datacenter_bits, layout.worker_bits)));
    return static_cast<uint32_t>(settings::node);
}

uint16_t node_for_snos() { return static_cast<uint16_t>(settings::node); }

}  // namespace snowdrift
