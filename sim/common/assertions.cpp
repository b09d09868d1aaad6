// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>

#include "verilated.h"

// A failed assertion of the RTL ends the run at once, because later results would be meaningless.
// Verilator calls these functions (VL_USER_FATAL, VL_USER_STOP).
void vl_stop(const char* file, int line, const char* hierarchy) {
    std::fflush(stdout);
    std::fprintf(stderr, "RTL assertion in %s (%s:%d)\n", hierarchy, file, line);
    std::_Exit(3);
}

void vl_fatal(const char* file, int line, const char* hierarchy, const char* message) {
    std::fflush(stdout);
    std::fprintf(stderr, "RTL assertion in %s (%s:%d): %s\n", hierarchy, file, line, message);
    std::_Exit(3);
}
