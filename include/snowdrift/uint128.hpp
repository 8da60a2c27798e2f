// Unsigned numbers of 128 bits.
#pragma once

#include "snowdrift/requirements.hpp"

namespace snowdrift {

/// A number from 0 to 2^128 - 1. GCC and Clang provide this type as an extension of C++.
__extension__ using Uint128 = unsigned __int128;

}  // namespace snowdrift
