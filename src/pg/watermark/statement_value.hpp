// One value of a watermark per statement. A scan can call the function for each row, and an Append
// for each partition. If the value rose in between, a later call would return rows, and the client
// would not look again for those that an earlier call has left out.
#pragma once

#include <cstdint>
#include <optional>

#include "pg/slots/slot.hpp"

namespace snowdrift::watermark {

/// The value of the generator's watermark for the statement that has the active snapshot, in Unix
/// milliseconds; nothing if it has none yet.
std::optional<int64_t>& find_statement_value(const slots::Slot& slot);

}  // namespace snowdrift::watermark
