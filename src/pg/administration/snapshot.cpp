// The SQL functions snowdrift.snapshot(), and snowdrift.restore(), which resumes a generator after
// a snapshot that was taken on this server or another one. Creates the generator if it does not
// exist. snapshot_json.cpp has the jsonb form.
#include "pg/administration/snapshot.hpp"

#include <algorithm>

#include "pg/administration/equal_ids.hpp"
#include "pg/draw/attached_slot.hpp"
#include "pg/draw/clock_behind.hpp"
#include "pg/record/record.hpp"
#include "pg/slots/regressions.hpp"
#include "pg/states/advance_state.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/settings.hpp"

extern "C" {
#include "access/relation.h"
#include "access/xlog.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
}

using namespace snowdrift;

namespace {

/// Advance a state past the snapshot. Return false if the state is already past it.
bool resume(slots::Slot& slot, const GeneratorSnapshot& snapshot) {
    if (snapshot.definition.kind == slots::Kind::sno) {
        slot.sno.at_count = std::max(slot.sno.at_count.load(), snapshot.at_count);
        return snapshot.definition.sno_generator(0).resume_after(slot.sno, snapshot.sno_position);
    }
    slots::SnowflakeState& state = slot.snowflake;
    if (!snapshot.snowflake_position) return state.word == 0;
    regressions::expect_lead(state);
    return snapshot.definition.snowflake_generator(0).resume_after(state.word,
                                                                   *snapshot.snowflake_position);
}

/// Start a fresh state at the snapshot's position, but after `floor_ms`, the floor of fresh
/// states.
void start(slots::Slot& slot, const slots::SlotKey& key, const GeneratorSnapshot& snapshot,
           int64_t floor_ms) {
    advance_state(slot, key, floor_ms);
    if (snapshot.definition.kind == slots::Kind::sno) {
        SnoGenerator::start_after(slot.sno, snapshot.sno_position);
        slot.sno.regressions = snapshot.regressions;
        slot.sno.at_count = snapshot.at_count;
    } else {
        (void)resume(slot, snapshot);
    }
}

[[noreturn]] void report_lag(const char* name) {
    ereport(
        ERROR,
        (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
         errmsg("snapshot lags behind ID generator \"%s\"", name),
         errdetail("The generator was restored earlier, it has issued IDs that the snapshot does "
                   "not include, or its watermark was read after the snapshot."),
         errhint("Take the snapshot after the last ID was drawn, or drop the generator if it is "
                 "not the one to resume.")));
}

/// Advance the generator's state and the mark to the snapshot.
void apply(const char* name, const Definition& definition, const GeneratorSnapshot& snapshot) {
    const slots::SlotKey key = definition.slot_key();
    bool is_applied = false;
    do {
        bool is_fresh = false;
        AttachedSlot slot;
        Relation mark = record::open();
        slot.attach(mark, key, definition.is_new, [&](slots::Slot& state, int64_t unix_ms) {
            is_fresh = true;
            start(state, key, snapshot, unix_ms);
        });
        relation_close(mark, RowExclusiveLock);
        if (!is_fresh && !resume(*slot, snapshot) && !is_applied) report_lag(name);
        is_applied = true;
    } while (!mark::cover(snapshot.last_unix_ms()));
    mark::require_structure();
}

/// Ensure that the generator and the snapshot have the same definition. Raises 55000.
void check_same(const char* name, const Definition& own, const Definition& other) {
    const char* differing = nullptr;
    if (own.kind != other.kind)
        differing = "kind";
    else if (own.kind == slots::Kind::snowflake && !(own.layout == other.layout))
        differing = "layout";
    else if (own.node() != other.node())
        differing = own.kind == slots::Kind::sno ? "partition" : "datacenter or worker";
    else if (own.sequence_min != other.sequence_min || own.sequence_max != other.sequence_max)
        differing = "sequence_min or sequence_max";
    else if (own.spread != other.spread)
        differing = "spread";
    if (differing != nullptr)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("snapshot does not match ID generator \"%s\"", name),
                        errdetail("The snapshot's %s differs.", differing),
                        errhint("Restore the snapshot under an unused name to create its "
                                "generator.")));
}

}  // namespace

/// snowdrift.snapshot(generator text) → jsonb
SNOWDRIFT_FUNCTION(snapshot) {
    const char* const name = text_to_cstring(PG_GETARG_TEXT_PP(0));
    if (RecoveryInProgress())
        ereport(ERROR, (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
                        errmsg("cannot take a snapshot of an ID generator during recovery"),
                        errdetail("The generator's state is in the primary server's memory.")));
    GeneratorSnapshot snapshot{};
    snapshot.definition = definitions::lock(name);

    AttachedSlot slot;
    Relation mark = record::open();
    slot.attach(mark, snapshot.definition.slot_key(), snapshot.definition.is_new);
    relation_close(mark, RowExclusiveLock);
    mark::require_structure();
    if (snapshot.definition.kind == slots::Kind::sno) {
        snapshot.sno_position = snapshot.definition.sno_generator(0).position(slot->sno);
        snapshot.regressions = slot->sno.regressions;
        snapshot.at_count = slot->sno.at_count;
    } else {
        snapshot.snowflake_position =
            snapshot.definition.snowflake_generator(0).position(slot->snowflake.word);
    }
    return write_snapshot(snapshot, clock::now_ms());
}

/// snowdrift.restore(generator text, snapshot jsonb) → void
SNOWDRIFT_FUNCTION(restore) {
    const char* const name = text_to_cstring(PG_GETARG_TEXT_PP(0));
    const GeneratorSnapshot snapshot = read_snapshot(PG_GETARG_DATUM(1));
    check_lead("snapshot", snapshot.last_unix_ms(),
               settings::max_clock_lead + max_wait(snapshot.definition.layout.unit_ms));
    PreventCommandIfReadOnly("snowdrift.restore()");
    if (!definitions::lookup(name)) {
        definitions::check_present(snapshot.definition);
        definitions::check_unique_in_cluster(name, snapshot.definition);
        definitions::insert(name, snapshot.definition);
        notice_equal_ids(name, snapshot.definition);
    }
    const Definition own = definitions::lock(name);
    check_same(name, own, snapshot.definition);
    definitions::remove_origin(name);
    apply(name, own, snapshot);
    PG_RETURN_VOID();
}
