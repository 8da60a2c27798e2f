// The SQL function snowdrift.snapshot(). restore.cpp defines snowdrift.restore(), snapshot_json.cpp
// the jsonb form.
#include "pg/generators/snapshot.hpp"

#include "pg/generators/session_slot.hpp"
#include "pg/support/clock.hpp"

extern "C" {
#include "access/xlog.h"
#include "utils/builtins.h"
}

using namespace snowdrift;

/// snowdrift.snapshot(generator text) → jsonb
SNOWDRIFT_FUNCTION(snapshot) {
    const char* const name = text_to_cstring(PG_GETARG_TEXT_PP(0));
    if (RecoveryInProgress())
        ereport(ERROR, (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
                        errmsg("cannot take a snapshot of an ID generator during recovery"),
                        errdetail("The generator's state is in the primary server's memory.")));
    GeneratorSnapshot snapshot{};
    snapshot.definition = definitions::lock(name);

    SessionSlot slot;
    slot.attach(snapshot.definition.slot_key(), snapshot.definition.is_uncommitted);
    if (snapshot.definition.kind == slots::Kind::sno) {
        snapshot.sno_position = snapshot.sno_generator().position(slot->sno);
        snapshot.regressions = slot->sno.regressions;
        snapshot.at_count = slot->sno.at_count;
    } else {
        snapshot.snowflake_position = snapshot.snowflake_generator().position(slot->snowflake.word);
    }
    return write_snapshot(snapshot, clock::now_ms());
}
