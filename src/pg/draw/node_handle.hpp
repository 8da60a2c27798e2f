// What the handles of generators of Snowflake and sno IDs share: a definition, a slot, a node that
// is read again when it may have changed, and the origin of a Snowflake generator.
#pragma once

#include <optional>

#include "pg/draw/attached_slot.hpp"
#include "pg/named/definitions.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/settings.hpp"
#include "pg/watermark/holds.hpp"

namespace snowdrift {

/// A session's handle of a generator: of a named one after define(), else of the database's default
/// one.
class NodeHandle {
 public:
    bool is_prepared() const {
        return slot_.is_attached() && node_version_ == settings::node_version;
    }

    slots::Slot& slot() const { return *slot_; }
    watermark::Generators generator() const { return generator_; }

    void define(const Definition& definition, const char* name) {
        slot_.detach();
        definition_ = definition;
        name_ = name;
        generator_ = watermark::only(definition.kind, definition.id);
    }

    /// A named generator's first use in a transaction. Another generator may share its bit, and its
    /// IDs can be later, so that the hold is too late for the IDs of this one.
    void begin_transaction() { watermark::forget(generator_); }

 protected:
    constexpr explicit NodeHandle(slots::Kind kind)
        : definition_{Definition::of_default(kind)},
          name_{slots::name_of(kind)},
          generator_{watermark::only(kind, 0)} {}

    /// Attaches the state, and ensures that its further IDs are not before the origin. Returns the
    /// node. Raises the errors of node_for() and AttachedSlot::attach(), and 42704 if the generator
    /// was dropped with its extension, and the extension was created again. The mark of the new
    /// extension has another tag, and its generators start after that mark. A transaction that has
    /// locked the generator therefore need not block DROP EXTENSION.
    uint32_t attach();

    /// The origin, in Unix milliseconds. Nothing if it is unknown. Raises 55000 if the mark's table
    /// is missing or unusable.
    std::optional<int64_t> read_origin() const;

    /// The layout of Snowflake IDs.
    const SnowflakeLayout& layout() const { return definition_.layout; }

    Definition definition_;
    AttachedSlot slot_;
    const char* name_;

 private:
    /// The node of the IDs, once it is certain that no other server may have the same.
    uint32_t find_node(Relation table) const;

    /// Attaches the slot. Further IDs are not before the origin.
    void begin(Relation table);

    watermark::Generators generator_;
    uint64_t node_version_ = 0;  // settings::node_version when the node was read
};

}  // namespace snowdrift
