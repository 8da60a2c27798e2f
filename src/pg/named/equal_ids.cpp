#include "pg/named/equal_ids.hpp"

#include <cstring>

#include "pg/named/definition_table.hpp"
#include "pg/node/citus.hpp"
#include "pg/node/node.hpp"
#include "pg/support/name_list.hpp"
#include "pg/types/snowflake_layout_type.hpp"

extern "C" {
#include "nodes/pg_list.h"
#include "utils/builtins.h"
}

namespace snowdrift {
namespace {

/// The IDs that a generator can issue at one time.
struct IdsOfATime {
    slots::Kind kind;
    SnowflakeLayout layout;   // of Snowflakes
    uint64_t node_field;      // the bits of the node
    uint64_t sequence_field;  // the bits that the sequence can set
    uint32_t sequence_min;
    uint32_t sequence_max;
};

/// The definition may be invalid, so that a row inserted by hand does not prevent the creation of
/// other generators: bits that have no place in the IDs are ignored.
IdsOfATime ids_of(const Definition& definition, uint32_t server_number) {
    const SnowflakeLayout& layout = definition.layout;
    const uint32_t node = definition.node().value_or(server_number);
    IdsOfATime ids{definition.kind, layout, 0, 0, definition.sequence_min, definition.sequence_max};
    if (definition.kind == slots::Kind::sno) {
        ids.node_field = uint64_t{node & UINT16_MAX} << 16;
        ids.sequence_field = UINT16_MAX;
    } else {
        ids.node_field = layout.node_field(node & layout.max_node());
        ids.sequence_field = uint64_t{layout.max_sequence()}
                             << layout.shift(SnowflakeField::sequence);
    }
    return ids;
}

/// Whether the timestamps of two generators are the same bits of their IDs. Otherwise, their IDs
/// are in different number spaces.
bool have_same_timestamps(const IdsOfATime& a, const IdsOfATime& b) {
    if (a.kind != b.kind) return false;
    return a.kind == slots::Kind::sno || (a.layout.epoch_unix_ms == b.layout.epoch_unix_ms &&
                                          a.layout.unit_ms == b.layout.unit_ms &&
                                          a.layout.timestamp_shift() == b.layout.timestamp_shift());
}

/// If the sequences have different places in the two layouts, this ignores their bounds: it may
/// return true although no IDs are equal, but not the reverse.
bool can_be_equal(const IdsOfATime& a, const IdsOfATime& b) {
    if (!have_same_timestamps(a, b)) return false;
    const uint64_t fixed = ~(a.sequence_field | b.sequence_field);
    if (((a.node_field ^ b.node_field) & fixed) != 0) return false;
    return a.sequence_field != b.sequence_field ||
           (a.sequence_min <= b.sequence_max && b.sequence_min <= a.sequence_max);
}

/// The default generator of the kind.
Definition default_definition(slots::Kind kind) {
    Definition definition{};
    definition.kind = kind;
    if (kind == slots::Kind::snowflake) definition.layout = default_layout;
    definition.sequence_max = kind == slots::Kind::sno ? UINT16_MAX : default_layout.max_sequence();
    return definition;
}

}  // namespace

void notice_equal_ids(const char* name, const Definition& definition) {
    const auto number = find_server_number(citus::read_membership());
    const uint32_t server_number = number ? number->value : 0;
    const IdsOfATime ids = ids_of(definition, server_number);
    const bool has_default =
        can_be_equal(ids, ids_of(default_definition(definition.kind), server_number));
    List* names = NIL;
    definitions::for_each_row([&](const definitions::Row& row) {
        const char* const other = TextDatumGetCString(*row[definitions::Column::name]);
        if (std::strcmp(other, name) != 0 &&
            can_be_equal(ids, ids_of(row.unchecked_definition(), server_number)))
            names = lappend(names, const_cast<char*>(other));
    });
    if (!has_default && names == NIL) return;
    const char* const first = !has_default   ? ""
                              : names == NIL ? "the default generator"
                                             : "the default generator, ";
    ereport(
        NOTICE,
        (errmsg("ID generator \"%s\" can issue the same IDs as other generators", name),
         errdetail("The other generators are: %s%s.", first, quoted_list(names)),
         errhint("If their IDs meet in one column, give each generator its own node (datacenter "
                 "and worker, or partition) or its own part of the sequence.")));
}

}  // namespace snowdrift
