// The definition of a generator.
#pragma once

#include <optional>

#include "pg/named/generator_lock.hpp"
#include "pg/slots/slots.hpp"
#include "pg/states/slot_release.hpp"
#include "pg/support/postgres.hpp"
#include "pg/types/snowflake_layout_type.hpp"
#include "protocol/generators.hpp"

namespace snowdrift {

/// A row of snowdrift_tables.generator, or what a default generator has instead of one. Without
/// datacenter and worker, or without partition, the generator uses snowdrift.node.
struct Definition {
    Oid table;         ///< the table that contains the row; InvalidOid for a default generator
    uint32_t id;       ///< from the sequence snowdrift_tables.generator_id; unique in the table
    slots::Kind kind;  ///< of a row: snowflake or sno
    bool is_new;       ///< the current transaction has created the generator
    SnowflakeLayout layout;              ///< of a Snowflake generator
    std::optional<uint32_t> datacenter;  ///< of a Snowflake generator
    std::optional<uint32_t> worker;      ///< of a Snowflake generator
    std::optional<uint32_t> partition;   ///< of a sno generator
    uint32_t sequence_min;
    uint32_t sequence_max;
    bool this_node_only;  ///< no other node of a Citus cluster generates IDs with the definition
    bool spread;          ///< of a Snowflake generator: the starts of its sequence are spread
    std::optional<int64_t> origin_ms;  ///< of a Snowflake generator, in Unix milliseconds: it
                                       ///< issues no ID before this time; nothing if unknown

    /// The default generator of the kind. The record has its origin.
    static constexpr Definition of_default(slots::Kind kind) {
        Definition definition{};
        definition.kind = kind;
        if (kind == slots::Kind::snowflake) definition.layout = default_layout;
        definition.sequence_max = definition.max_sequence();
        return definition;
    }

    bool is_default() const { return !OidIsValid(table); }

    GeneratorId generator() const { return {table, id}; }

    /// The node: datacenter and worker together, or the partition. Nothing if they are unset.
    std::optional<uint32_t> node() const {
        if (kind == slots::Kind::sno) return partition;
        if (!datacenter && !worker) return std::nullopt;
        return datacenter.value_or(0) << layout.worker_bits | worker.value_or(0);
    }

    /// The greatest sequence number of such IDs.
    constexpr uint32_t max_sequence() const {
        return kind == slots::Kind::sno ? UINT16_MAX : layout.max_sequence();
    }

    /// Whether the IDs contain the server's number.
    bool has_server_number() const {
        return (kind == slots::Kind::sno || layout.node_bits() > 0) && !node();
    }

    /// The key of the slot that holds the generator's state.
    slots::SlotKey slot_key() const {
        return {MyDatabaseId, kind, table, id, sequence_min, sequence_max, layout};
    }

    SnowflakeGenerator snowflake_generator(uint32_t of_node) const {
        Assert(kind == slots::Kind::snowflake);
        using Start = SnowflakeGenerator::Start;
        return {layout, of_node, sequence_min, sequence_max, spread ? Start::spread : Start::least};
    }

    SnoGenerator sno_generator(uint32_t of_node) const {
        Assert(kind == slots::Kind::sno);
        return {static_cast<uint16_t>(of_node), static_cast<uint16_t>(sequence_min),
                static_cast<uint16_t>(sequence_max)};
    }
};

}  // namespace snowdrift
