// The call of a trigger function.
#pragma once

#include "pg/support/extension.hpp"
#include "pg/support/postgres.hpp"

extern "C" {
#include "commands/trigger.h"
#include "utils/rel.h"
}

namespace snowdrift {

/// Returns the data of the call of a trigger function. `level_and_timing`: such as
/// TRIGGER_EVENT_ROW | TRIGGER_EVENT_BEFORE. Raises 39P01 unless the call is that of a trigger of
/// this kind of the extension's table `table`: anyone with EXECUTE on the function could create a
/// trigger of another table.
inline const TriggerData& check_trigger(FunctionCallInfo fcinfo, const char* table,
                                        TriggerEvent level_and_timing) {
    constexpr TriggerEvent mask = TRIGGER_EVENT_ROW | TRIGGER_EVENT_TIMINGMASK;
    const auto* const trigger =
        CALLED_AS_TRIGGER(fcinfo) ? reinterpret_cast<TriggerData*>(fcinfo->context) : nullptr;
    if (trigger == nullptr || (trigger->tg_event & mask) != level_and_timing ||
        RelationGetRelid(trigger->tg_relation) != extension::find_relation(table))
        ereport(ERROR,
                (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                 errmsg("function was not called by a trigger of table \"snowdrift_tables.%s\"",
                        table)));
    return *trigger;
}

}  // namespace snowdrift
