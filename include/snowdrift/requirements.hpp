// What the headers require of the compiler. Each header includes this, directly or through others.
#pragma once

// The compiler would continue after #error, and report an error for each line that is not C++17. It
// stops at a file that does not exist.
#if __cplusplus < 202002L
#include "Snowdrift requires C++20: GCC 11, Clang 14 or later, with -std=c++20"
#endif
