// Taking snapshots of generators, and going on from one, on this server or another.
#include "pg/generators/snapshot.hpp"

#include <algorithm>

#include "pg/generators/regressions.hpp"
#include "pg/generators/session_slot.hpp"
#include "pg/support/clock.hpp"
#include "pg/support/settings.hpp"
#include "pg/types/snowflake_layout_type.hpp"
#include "snowdrift/snowflake_layout.hpp"

extern "C" {
#include "access/xlog.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
}

using namespace snowdrift;

namespace {

void move_past(slots::Slot& slot, int64_t unix_ms, const GeneratorSnapshot& snapshot) {
    if (snapshot.definition.kind == GeneratorKind::sno)
        SnoGenerator::move_past(slot.sno, unix_ms);
    else
        regressions::move_past(slot, snapshot.snowflake_generator(), unix_ms);
}

/// Make a state go on after the snapshot; false if it has come further.
bool go_on(slots::Slot& slot, const GeneratorSnapshot& snapshot) {
    if (snapshot.definition.kind == GeneratorKind::sno) {
        slot.sno.at_count = std::max(slot.sno.at_count.load(), snapshot.at_count);
        return snapshot.sno_generator().go_on_after(slot.sno, snapshot.use);
    }
    if (!snapshot.last) return slot.words[0] == 0;
    regressions::expect_lead(slot);
    return snapshot.snowflake_generator().go_on_after(slot.words[0], *snapshot.last);
}

/// Begin a fresh state where the snapshot was, but not before the mark.
void begin(slots::Slot& slot, int64_t mark, const GeneratorSnapshot& snapshot) {
    move_past(slot, mark, snapshot);
    if (snapshot.definition.kind == GeneratorKind::sno) {
        SnoGenerator::begin_after(slot.sno, snapshot.use);
        slot.sno.drifts = snapshot.drifts;
        slot.sno.at_count = snapshot.at_count;
    } else {
        (void)go_on(slot, snapshot);
    }
}

[[noreturn]] void report_lag(const char* name) {
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("snapshot lags behind ID generator \"%s\"", name),
             errdetail("The generator of this database has come further than the snapshot."),
             errhint("Take the snapshot after the last ID was drawn, or drop the generator if it "
                     "is not the one to go on.")));
}

/// Bring the generator's state to where the snapshot is, and the mark before any ID of it. Nothing
/// of this rolls back, and need not: it only moves forward.
void apply(const char* name, const Definition& definition, const GeneratorSnapshot& snapshot) {
    bool is_applied = false;
    do {
        bool is_fresh = false;
        SessionSlot slot;
        slot.attach(
            definition.slot_key(), definition.is_uncommitted,
            [&](slots::Slot& state, int64_t unix_ms) { move_past(state, unix_ms, snapshot); },
            [&](slots::Slot& state, int64_t unix_ms) {
                is_fresh = true;
                begin(state, unix_ms, snapshot);
            });
        if (!is_fresh && !go_on(*slot, snapshot) && !is_applied) report_lag(name);
        is_applied = true;
    } while (!mark::cover(snapshot.last_unix_ms()));
}

/// Ensure that a generator which goes on after `unix_ms` can generate at once, or soon.
void check_lead(int64_t unix_ms) {
    const int64_t lead = unix_ms - clock::now_ms();
    if (lead <= settings::max_clock_lead + patience_ms) return;
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("snapshot is %lld ms ahead of the server's clock",
                           static_cast<long long>(lead)),
                    errdetail("snowdrift.max_clock_lead allows %d ms.", settings::max_clock_lead),
                    errhint("Correct the clock, wait until it has caught up, or raise "
                            "snowdrift.max_clock_lead.")));
}

/// Ensure that a generator is the one that the snapshot is of.
void check_same(const char* name, const Definition& own, const Definition& other) {
    const char* differing = nullptr;
    if (own.kind != other.kind)
        differing = "kind";
    else if (own.kind == GeneratorKind::snowflake && !(own.layout == other.layout))
        differing = "layout";
    else if (own.node() != other.node())
        differing = "datacenter or worker";
    else if (own.partition != other.partition)
        differing = "partition";
    else if (own.sequence_min != other.sequence_min || own.sequence_max != other.sequence_max)
        differing = "sequence_min or sequence_max";
    if (differing != nullptr)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("snapshot is not of ID generator \"%s\"", name),
                        errdetail("The snapshot's %s differs.", differing),
                        errhint("Restore it under a name that is free: that creates the "
                                "generator.")));
}

}  // namespace

/// snowdrift.snapshot(name text) → jsonb
SNOWDRIFT_FUNCTION(snapshot) {
    const char* const name = text_to_cstring(PG_GETARG_TEXT_PP(0));
    if (RecoveryInProgress())
        ereport(ERROR, (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
                        errmsg("cannot take a snapshot of an ID generator during recovery"),
                        errdetail("How far it has come is in the primary server's memory.")));
    GeneratorSnapshot snapshot{};
    snapshot.definition = definitions::hold(name);

    SessionSlot slot;
    slot.attach(snapshot.definition.slot_key(), snapshot.definition.is_uncommitted,
                [&](slots::Slot& state, int64_t unix_ms) { move_past(state, unix_ms, snapshot); });
    if (snapshot.definition.kind == GeneratorKind::sno) {
        snapshot.use = snapshot.sno_generator().use(slot->sno);
        snapshot.drifts = slot->sno.drifts;
        snapshot.at_count = slot->sno.at_count;
    } else {
        snapshot.last = snapshot.snowflake_generator().last(slot->words[0]);
    }
    return write_snapshot(snapshot, clock::now_ms());
}

/// snowdrift.restore(name text, snapshot jsonb) → void
SNOWDRIFT_FUNCTION(restore) {
    const char* const name = text_to_cstring(PG_GETARG_TEXT_PP(0));
    const GeneratorSnapshot snapshot = read_snapshot(PG_GETARG_DATUM(1));
    check_lead(snapshot.last_unix_ms());
    PreventCommandIfReadOnly("snowdrift.restore()");
    if (!definitions::look_up(name)) definitions::insert(name, snapshot.definition);
    const Definition own = definitions::hold(name);
    check_same(name, own, snapshot.definition);
    apply(name, own, snapshot);
    PG_RETURN_VOID();
}
