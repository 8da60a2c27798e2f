// The part of a session's generator that Snowflakes and snos share: a definition or none, a slot,
// and a node that is read again when it may have changed.
#pragma once

#include <optional>

#include "pg/draw/origin.hpp"
#include "pg/draw/session_slot.hpp"
#include "pg/mark/mark.hpp"
#include "pg/named/definitions.hpp"
#include "pg/node/mark_owner.hpp"
#include "pg/node/node.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/settings.hpp"

extern "C" {
#include "utils/inval.h"
}

namespace snowdrift {

/// A session's view of a generator: a named one after define(), else the database's default one.
class NodeSession {
 public:
    bool is_prepared() const {
        return slot_.is_attached() && node_version_ == settings::node_version;
    }

    slots::Slot& slot() const { return *slot_; }

    void define(const Definition& definition, const char* name) {
        slot_.detach();
        definition_ = definition;
        name_ = name;
    }

 protected:
    constexpr explicit NodeSession(slots::Kind kind) : name_{slots::name_of(kind)}, kind_{kind} {}

    /// Attaches the state. `defined_node`: the definition's. `read_node()` reads the node before
    /// that.
    template <typename ReadNode>
    void prepare(std::optional<uint32_t> defined_node, ReadNode read_node) {
        const uint64_t version = settings::node_version;  // a change from here on is noticed
        (void)mark::attach();
        // The lock blocks mark::reset(), which makes the origin earlier and discards the states,
        // and DROP EXTENSION.
        Relation mark = mark_table::open();
        if (definition_ && !definition_->has_server_number()) {
            definitions::check_unique_in_cluster(name_, *definition_);
            check_confirmed(mark, std::nullopt, citus::read_membership());
        }
        read_node(mark);
        const slots::SlotKey key =
            definition_ ? definition_->slot_key() : slots::SlotKey{MyDatabaseId, kind_};
        if (!defined_node) log_missing_number();
        if (!attach_after_origin(slot_, key, definition_, mark)) definitions::report_dropped(name_);
        relation_close(mark, RowExclusiveLock);
        // With debug_discard_caches, every look-up discards all caches, so ignore those above.
        node_version_ = debug_discard_caches > 0 ? settings::node_version : version;
    }

    std::optional<Definition> definition_;  // of a named generator
    SessionSlot slot_;
    const char* name_;

 private:
    slots::Kind kind_;
    uint64_t node_version_ = 0;  // settings::node_version when the node was read
};

}  // namespace snowdrift
