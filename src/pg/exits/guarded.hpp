// What the guards of exits share. exits.hpp is the interface for other folders.
#pragma once

namespace snowdrift::exits {

/// Whether data must not leave before open().
bool is_closed();

/// Prepares for data to leave: calls what guard() was given. Called by a guard before data passes.
void open();

}  // namespace snowdrift::exits
