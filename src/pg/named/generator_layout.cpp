// The SQL function snowdrift.generator_layout(): the layout of a named generator, as an argument of
// functions that decode Snowflake IDs.
#include <cstring>

#include "pg/named/definition_table.hpp"
#include "pg/named/definitions.hpp"
#include "pg/support/datum.hpp"
#include "pg/support/postgres.hpp"

extern "C" {
#include "utils/builtins.h"
}

using namespace snowdrift;

namespace {

/// The layout of a generator, kept from row to row of a query.
struct KnownLayout {
    uint64_t version;  ///< definitions::version before it was read; 0 if nothing was read
    SnowflakeLayout layout;
    size_t length;
    char name[NAMEDATALEN];

    bool is_current(const text* wanted) const {
        return version == definitions::version && length == VARSIZE_ANY_EXHDR(wanted) &&
               std::memcmp(name, VARDATA_ANY(wanted), length) == 0;
    }

    /// Raises 42704 if there is no such generator, 42809 if its IDs are not Snowflakes.
    void read(const text* wanted) {
        const char* const copy = text_to_cstring(wanted);
        if (std::strlen(copy) > definitions::max_name_length) definitions::report_undefined(copy);
        // Read the version first, so that a concurrent change makes the next call read again.
        const uint64_t before = definitions::version;
        const auto definition = definitions::lookup(copy);
        if (!definition) definitions::report_undefined(copy);
        if (definition->kind != slots::Kind::snowflake)
            definitions::report_wrong_kind(copy, slots::Kind::snowflake);
        *this = {before, definition->layout, std::strlen(copy), {}};
        strlcpy(name, copy, sizeof name);
    }
};

}  // namespace

/// snowdrift.generator_layout(generator text) → snowflake_layout
SNOWDRIFT_FUNCTION(generator_layout) {
    const text* const name = PG_GETARG_TEXT_PP(0);
    if (fcinfo->flinfo->fn_extra == nullptr)
        fcinfo->flinfo->fn_extra =
            MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(KnownLayout));
    auto& known = *static_cast<KnownLayout*>(fcinfo->flinfo->fn_extra);
    if (!known.is_current(name)) known.read(name);
    return make_datum(known.layout);
}
