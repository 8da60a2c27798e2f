// The SQL function snowdrift.read_watermark_holders(), on which the view
// snowdrift.watermark_holders is based.
#include "pg/named/definition_table.hpp"
#include "pg/support/postgres.hpp"
#include "pg/support/row.hpp"
#include "pg/support/time.hpp"
#include "pg/watermark/holds.hpp"
#include "pg/watermark/lines.hpp"

extern "C" {
#include "access/transam.h"
#include "storage/procarray.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"
#include "utils/xid8.h"
}

using namespace snowdrift;

namespace {

using definitions::Column;
using slots::Kind;
using watermark::Generators;
using watermark::Line;

/// A hold of a transaction in progress.
struct Holder {
    int pid;               // 0 for a prepared transaction
    uint64_t transaction;  // of a prepared transaction
    TimestampTz lowest;
    Generators generators;
};

/// The hold of a line; nothing if the line has no hold, or one of another database, or of a
/// transaction that has ended. `first`: no transaction in progress is before this one.
std::optional<Holder> holder_of(Line& line, const PGPROC& process, uint64_t first) {
    SpinLockAcquire(&line.lock);
    const Oid database = line.database;
    const int64_t unix_ms = line.unix_ms;
    const Generators generators = line.generators;
    const uint64_t transaction = line.transaction;
    SpinLockRelease(&line.lock);
    if (generators == 0 || database != MyDatabaseId) return std::nullopt;
    if (transaction != 0 && (transaction < first ||
                             !TransactionIdIsInProgress(static_cast<TransactionId>(transaction))))
        return std::nullopt;
    const TimestampTz lowest =
        unix_ms == watermark::unknown_ms ? DT_NOBEGIN : timestamp_from_unix_ms(unix_ms);
    return Holder{transaction == 0 ? process.pid : 0, transaction, lowest, generators};
}

void add(FunctionCallInfo fcinfo, const Holder& holder, Kind kind, std::optional<Datum> name,
         uint32_t id) {
    if ((holder.generators & watermark::only(kind, id)) == 0) return;
    std::optional<Datum> pid, transaction;
    if (holder.pid != 0) pid = Int32GetDatum(holder.pid);
    if (holder.transaction != 0)
        transaction = FullTransactionIdGetDatum(FullTransactionIdFromU64(holder.transaction));
    add_row(fcinfo, {pid, transaction, CStringGetTextDatum(slots::name_of(kind)), name,
                     TimestampTzGetDatum(holder.lowest)});
}

}  // namespace

/// snowdrift.read_watermark_holders() → setof (transaction in progress that holds a watermark back,
/// and its generator)
SNOWDRIFT_FUNCTION(read_watermark_holders) {
    InitMaterializedSRF(fcinfo, 0);
    if (RecoveryInProgress()) return Datum{0};  // no transaction draws
    watermark::map_lines();
    const uint64_t first = watermark::full_transaction_id(GetActiveSnapshot()->xmin);
    const PGPROC* process = &ProcGlobal->allProcs[0];
    for (Line& line : watermark::lines()) {
        const auto holder = holder_of(line, *process++, first);
        if (!holder) continue;
        for (const Kind kind : slots::generator_kinds) add(fcinfo, *holder, kind, std::nullopt, 0);
        definitions::for_each_row([&](const definitions::Row& row) {
            const Datum name = PointerGetDatum(PG_DETOAST_DATUM(*row[Column::name]));
            add(fcinfo, *holder, row.kind(), name, row.number(Column::id));
        });
    }
    return Datum{0};
}
