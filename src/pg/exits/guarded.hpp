// Functions for the guards of exits. exits.hpp is the interface for other folders.
#pragma once

namespace snowdrift::exits {

/// Whether data must not leave before open().
bool is_closed();

/// Calls the function that guard() was given, if any. Guards call open() before data leaves.
void open();

}  // namespace snowdrift::exits
