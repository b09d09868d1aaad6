// SPDX-License-Identifier: Apache-2.0
// Runs the verilated memory expander; see replay.h. Started by anemone.backends.rtl.
//   engine replay JOB TRACE OUT
//   engine latency
// Exit: 0 done; 1 a check failed or a file could not be used; 2 usage; 3 an assertion of the RTL.
#include <cstdio>
#include <cstring>
#include <exception>

#include "replay.h"

int main(int argc, char** argv) {
    try {
        if (argc == 5 && !std::strcmp(argv[1], "replay")) {
            anemone::replay(argv[2], argv[3], argv[4]);
        } else if (argc == 2 && !std::strcmp(argv[1], "latency")) {
            anemone::latency();
        } else {
            std::fprintf(stderr, "usage: engine replay JOB TRACE OUT | engine latency\n");
            return 2;
        }
    } catch (const std::exception& e) {
        std::fflush(stdout);
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return 0;
}
