// The definition of a named generator.
#pragma once

#include <optional>

#include "pg/mark/slots.hpp"
#include "pg/named/generator_lock.hpp"
#include "pg/support/postgres.hpp"
#include "snowdrift/snowflake.hpp"

namespace snowdrift {

/// A row of snowdrift_tables.generator. Without datacenter and worker, or without partition, the
/// generator uses snowdrift.node.
struct Definition {
    Oid table;            ///< the table that contains the row
    uint32_t id;          ///< from the sequence snowdrift_tables.generator_id; unique in the table
    slots::Kind kind;     ///< snowflake or sno
    bool is_uncommitted;  ///< created by the current transaction
    SnowflakeLayout layout;              ///< of a Snowflake generator
    std::optional<uint32_t> datacenter;  ///< of a Snowflake generator
    std::optional<uint32_t> worker;      ///< of a Snowflake generator
    std::optional<uint32_t> partition;   ///< of a sno generator
    uint32_t sequence_min;
    uint32_t sequence_max;
    bool this_node_only;  ///< no other node of a Citus cluster generates IDs with the definition
    std::optional<int64_t> origin_ms;  ///< of a Snowflake generator, in Unix milliseconds: it
                                       ///< issues no ID before this time; nothing if unknown

    GeneratorId generator() const { return {table, id}; }

    /// The node: datacenter and worker together, or the partition. Nothing if they are unset.
    std::optional<uint32_t> node() const {
        if (kind == slots::Kind::sno) return partition;
        if (!datacenter && !worker) return std::nullopt;
        return datacenter.value_or(0) << layout.worker_bits | worker.value_or(0);
    }

    /// The greatest sequence number of such IDs.
    uint32_t max_sequence() const {
        return kind == slots::Kind::sno ? UINT16_MAX : layout.max_sequence();
    }

    /// Whether the IDs contain the server's number.
    bool has_server_number() const {
        return (kind == slots::Kind::sno || layout.node_bits() > 0) && !node();
    }

    /// The key of the slot that holds the generator's state.
    slots::SlotKey slot_key() const {
        Assert(OidIsValid(table) && sequence_min < sequence_max);
        return {MyDatabaseId, kind, table, id, sequence_min, sequence_max, layout};
    }
};

}  // namespace snowdrift
