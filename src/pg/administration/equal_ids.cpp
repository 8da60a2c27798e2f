#include "pg/administration/equal_ids.hpp"

#include <cstring>

#include "pg/named/definition_table.hpp"
#include "pg/node/citus.hpp"
#include "pg/node/node.hpp"
#include "pg/support/name_list.hpp"

extern "C" {
#include "nodes/pg_list.h"
#include "utils/builtins.h"
}

namespace snowdrift {
namespace {

/// Whether the timestamps of two generators are the same bits of their IDs. Otherwise, their IDs
/// are in different number spaces.
bool have_same_timestamps(const Definition& a, const Definition& b) {
    if (a.kind != b.kind) return false;
    return a.kind == slots::Kind::sno || (a.layout.epoch_unix_ms == b.layout.epoch_unix_ms &&
                                          a.layout.unit_ms == b.layout.unit_ms &&
                                          a.layout.timestamp_shift() == b.layout.timestamp_shift());
}

/// The bits of the node in a generator's IDs. The definition may be invalid, so that a row inserted
/// by hand does not prevent the creation of other generators: bits without a place are ignored.
uint64_t node_field(const Definition& definition, uint32_t server_number) {
    const uint32_t node = definition.node().value_or(server_number);
    if (definition.kind == slots::Kind::sno) return uint64_t{node & UINT16_MAX} << 16;
    return definition.layout.node_field(node & definition.layout.max_node());
}

/// The bits that the sequence can set.
uint64_t sequence_field(const Definition& definition) {
    const bool is_sno = definition.kind == slots::Kind::sno;
    return uint64_t{definition.max_sequence()}
           << (is_sno ? 0 : definition.layout.shift(SnowflakeField::sequence));
}

/// If the sequences have different places in the two layouts, this ignores their bounds: it may
/// return true although no IDs are equal, but not the reverse.
bool can_be_equal(const Definition& a, const Definition& b, uint32_t server_number) {
    if (!have_same_timestamps(a, b)) return false;
    const uint64_t fixed = ~(sequence_field(a) | sequence_field(b));
    if (((node_field(a, server_number) ^ node_field(b, server_number)) & fixed) != 0) return false;
    return sequence_field(a) != sequence_field(b) ||
           (a.sequence_min <= b.sequence_max && b.sequence_min <= a.sequence_max);
}

}  // namespace

void notice_equal_ids(const char* name, const Definition& definition) {
    const auto number = find_server_number(citus::read_membership());
    const uint32_t server_number = number ? number->value : 0;
    const bool has_default =
        can_be_equal(definition, Definition::of_default(definition.kind), server_number);
    List* names = NIL;
    definitions::for_each_row([&](const definitions::Row& row) {
        const char* const other = TextDatumGetCString(*row[definitions::Column::name]);
        if (std::strcmp(other, name) != 0 &&
            can_be_equal(definition, row.unchecked_definition(), server_number))
            names = lappend(names, const_cast<char*>(other));
    });
    if (!has_default && names == NIL) return;
    const char* const first = !has_default   ? ""
                              : names == NIL ? "the default generator"
                                             : "the default generator, ";
    ereport(NOTICE,
            (errmsg("ID generator \"%s\" can issue the same IDs as other generators", name),
             errdetail("The other generators are: %s%s.", first, quoted_list(names)),
             errhint("If their IDs are stored in one column, give each generator its own node "
                     "(datacenter and worker, or partition) or its own part of the sequence.")));
}

}  // namespace snowdrift
