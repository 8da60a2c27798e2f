// The origin of a Snowflake generator: the time from which it issues IDs. snowflake_at() issues IDs
// of earlier times.
#pragma once

#include <optional>

#include "pg/draw/session_slot.hpp"
#include "pg/mark/slots.hpp"
#include "pg/named/definitions.hpp"

namespace snowdrift {

/// Returns the origin of the generator that `definition` describes, or of the default Snowflake
/// generator, in Unix milliseconds. Nothing if it is unknown. Raises 55000 if the mark's table is
/// missing or unusable.
std::optional<int64_t> read_origin(const std::optional<Definition>& definition);

/// Attaches the slot of the generator, and ensures that further IDs of its state are not before its
/// origin. `mark`: the mark's table, which the caller has locked before it looked up anything. Each
/// session calls it before it draws from the generator, and again when the mark's tag has changed.
/// Raises the same errors, and those of SessionSlot::attach().
///
/// Returns false if the generator was dropped with its extension, and the extension was created
/// again. The mark of the new extension has another tag, and its generators start after that mark.
/// So a transaction that has locked the generator need not block DROP EXTENSION.
bool attach_after_origin(SessionSlot& slot, const slots::SlotKey& key,
                         const std::optional<Definition>& definition, Relation mark);

}  // namespace snowdrift
