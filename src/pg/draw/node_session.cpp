#include "pg/draw/node_session.hpp"

#include <algorithm>

#include "pg/mark/advance_state.hpp"
#include "pg/mark/mark.hpp"
#include "pg/node/mark_owner.hpp"
#include "pg/node/node.hpp"
#include "pg/support/extension.hpp"

extern "C" {
#include "access/relation.h"
#include "utils/inval.h"
}

namespace snowdrift {
namespace {

/// The origin, which the mark's row limits after snowdrift.reset_clock().
std::optional<int64_t> find_origin(const mark_table::Origin& common, const Definition& definition) {
    if (definition.is_default()) return common.unix_ms;
    const bool is_limited = int64_t{definition.id} <= common.last_generator;
    if (!definition.origin_ms || !is_limited) return definition.origin_ms;
    return std::min(*definition.origin_ms, common.unix_ms);
}

}  // namespace

uint32_t NodeSession::attach() {
    node_version_ = 0;                                // not prepared if an error is raised
    const uint64_t version = settings::node_version;  // a change from here on is noticed
    (void)mark::attach();
    // The lock blocks mark::reset(), which makes the origin earlier and discards the states, and
    // DROP EXTENSION.
    Relation mark = mark_table::open();
    if (!definition_.has_server_number()) {
        definitions::check_unique_in_cluster(name_, definition_);
        check_confirmed(mark, std::nullopt, citus::read_membership());
    }
    const uint32_t node = find_node(mark);
    if (!definition_.is_default() && definition_.table != extension::find_relation("generator"))
        definitions::report_dropped(name_);
    const slots::SlotKey key = definition_.slot_key();
    slot_.attach(mark, key, definition_.is_new);
    const auto origin = find_origin(mark_table::read(mark).origin, definition_);
    if (origin && definition_.kind == slots::Kind::snowflake)
        advance_state(*slot_, key, *origin - 1);
    relation_close(mark, RowExclusiveLock);
    watermark::forget(generator_);
    // With debug_discard_caches, every look-up discards all caches, so ignore those above.
    node_version_ = debug_discard_caches > 0 ? settings::node_version : version;
    return node;
}

std::optional<int64_t> NodeSession::read_origin() const {
    return find_origin(mark_table::read().origin, definition_);
}

/// The node of the definition, or the server's.
uint32_t NodeSession::find_node(Relation mark) const {
    if (const auto own = definition_.node()) return *own;
    const uint32_t node =
        definition_.kind == slots::Kind::sno ? server_number(mark) : node_for(layout(), mark);
    log_missing_number();
    return node;
}

}  // namespace snowdrift
