#include "pg/exits/exits.hpp"

#include "pg/support/postgres.hpp"

extern "C" {
#include "access/parallel.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "nodes/parsenodes.h"
#include "tcop/utility.h"
#include "utils/elog.h"
#include "utils/fmgrprotos.h"
}

#include "pg/exits/client_messages.hpp"
#include "pg/exits/guarded.hpp"
#include "pg/exits/statements.hpp"

namespace snowdrift::exits {
namespace {

/// The function to call before data leaves the server; null if there is none.
void (*prepare_exit)() = nullptr;

// ---- functions that may send data out of the server

/// The number of unfinished calls of functions for which is_foreign_code() is true.
int foreign_calls = 0;

needs_fmgr_hook_type next_needs_hook = nullptr;
fmgr_hook_type next_function_hook = nullptr;

bool needs_hook(Oid function) {
    return (next_needs_hook != nullptr && next_needs_hook(function)) ||
           statements::is_foreign_code(function);
}

void on_function(FmgrHookEventType event, FmgrInfo* function, Datum* private_data) {
    if (event == FHET_START) {
        open();
        ++foreign_calls;
    } else if (foreign_calls > 0) {  // 0 if the call began before the library was loaded
        --foreign_calls;
    }
    if (next_function_hook != nullptr) next_function_hook(event, function, private_data);
}

// ---- statements

ExecutorRun_hook_type next_executor_run = nullptr;
ProcessUtility_hook_type next_utility = nullptr;

void open_for(PlannedStmt* statement) {
    if (is_closed() && !statements::is_contained(statement)) open();
}

// PostgreSQL calls this hook for each part of a result, for example for each FETCH. The number of
// arguments depends on the version.
template <typename... Arguments>
void on_executor_run(QueryDesc* query, Arguments... arguments) {
    open_for(query->plannedstmt);
    (next_executor_run != nullptr ? next_executor_run : standard_ExecutorRun)(query, arguments...);
}

void on_utility(PlannedStmt* statement, const char* query, bool is_read_only,
                ProcessUtilityContext context, ParamListInfo parameters,
                QueryEnvironment* environment, DestReceiver* receiver,
                QueryCompletion* completion) {
    open_for(statement);
    (next_utility != nullptr ? next_utility : standard_ProcessUtility)(
        statement, query, is_read_only, context, parameters, environment, receiver, completion);
}

// ---- the server's log

emit_log_hook_type next_log_hook = nullptr;

void on_log(ErrorData* message) {
    // A process that is about to end no longer uses shared memory, and has no ID to report.
    if (message->output_to_server && CritSectionCount == 0 && MyProc != nullptr) open();
    if (next_log_hook != nullptr) next_log_hook(message);
}

/// Installs a hook of this library in front of the hooks that are already installed.
template <typename Hook>
void chain(Hook& installed, Hook& next, Hook own) {
    next = installed;
    installed = own;
}

}  // namespace

bool is_closed() { return prepare_exit != nullptr; }

void open() {
    if (prepare_exit == nullptr) return;
    auto* const prepare = prepare_exit;
    prepare_exit = nullptr;
    prepare();
}

void install() {
    client_messages::install();
    chain(needs_fmgr_hook, next_needs_hook, needs_hook);
    chain(fmgr_hook, next_function_hook, on_function);
    chain(ExecutorRun_hook, next_executor_run, on_executor_run);
    chain(ProcessUtility_hook, next_utility, on_utility);
    chain(emit_log_hook, next_log_hook, on_log);
}

bool are_guarded() {
    return foreign_calls == 0 &&
           DatumGetInt32(DirectFunctionCall1(pg_trigger_depth, Datum{0})) == 0 &&
           IsTransactionState() && !IsInParallelMode() && client_messages::are_guarded() &&
           statements::is_current_contained();
}

void guard(void (*prepare)()) { prepare_exit = prepare; }

void unguard() { prepare_exit = nullptr; }

}  // namespace snowdrift::exits
