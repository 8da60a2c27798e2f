// The IDs in a column of type bigint (Snowflake IDs), ulid, sno or uuid (UUIDs of version 7), for
// code that handles all of them.
#pragma once

#include <optional>

#include "pg/support/postgres.hpp"

namespace snowdrift {

class ColumnIds {
 public:
    enum class Kind { snowflake, ulid, sno, uuidv7 };

    /// The IDs in a column of type bigint, ulid, sno or uuid, or of a domain over one of them;
    /// nothing for other types.
    static std::optional<ColumnIds> of(Oid type);

    Kind kind() const { return kind_; }

    /// The text form of an ID, or of a number that is not an ID.
    const char* text(Datum id) const;

 private:
    ColumnIds(Kind kind, Oid type) : kind_{kind}, type_{type} {}

    Kind kind_;
    Oid type_;  // not a domain
};

}  // namespace snowdrift
