#include "pg/draw/node_handle.hpp"

#include "pg/mark/mark.hpp"
#include "pg/named/origin.hpp"
#include "pg/node/node.hpp"
#include "pg/record/record.hpp"
#include "pg/states/advance_state.hpp"
#include "pg/support/extension.hpp"

extern "C" {
#include "access/relation.h"
#include "utils/inval.h"
}

namespace snowdrift {

uint32_t NodeHandle::attach() {
    node_version_ = 0;                                // not prepared if an error is raised
    const uint64_t version = settings::node_version;  // a change from here on is noticed
    (void)mark::attach();
    // The lock blocks snowdrift.reset_clock(), which makes the origin earlier and discards the
    // states, and DROP EXTENSION.
    Relation table = record::open();
    const uint32_t node = find_node(table);
    begin(table);
    relation_close(table, RowExclusiveLock);
    watermark::forget(generator_);
    // With debug_discard_caches, every look-up discards all caches, so ignore those above.
    node_version_ = debug_discard_caches > 0 ? settings::node_version : version;
    return node;
}

uint32_t NodeHandle::find_node(Relation table) const {
    if (definition_.has_server_number())
        return definition_.kind == slots::Kind::sno ? server_number(table)
                                                    : node_for(layout(), table);
    definitions::check_unique_in_cluster(name_, definition_);
    check_confirmed(table, std::nullopt, citus::read_membership());
    return definition_.node().value_or(0);
}

void NodeHandle::begin(Relation table) {
    if (!definition_.is_default() && definition_.table != extension::find_relation("generator"))
        definitions::report_dropped(name_);
    const slots::SlotKey key = definition_.slot_key();
    slot_.attach(table, key, definition_.is_new);
    if (definition_.kind != slots::Kind::snowflake) return;
    const auto origin = find_origin(record::read(table), definition_);
    if (origin) advance_state(*slot_, key, *origin - 1);
}

std::optional<int64_t> NodeHandle::read_origin() const {
    return find_origin(record::read(), definition_);
}

}  // namespace snowdrift
