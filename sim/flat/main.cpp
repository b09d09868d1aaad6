// SPDX-License-Identifier: Apache-2.0
// Runs the verilated controller of flat memory mode; see run.h. Started by anemone.backends.rtl.
//   engine run JOB TRACE OUT
// Exit: 0 done; 1 a check failed or a file could not be used; 2 usage; 3 an assertion of the RTL.
#include <cstdio>
#include <cstring>
#include <exception>

#include "run.h"

int main(int argc, char** argv) {
    if (argc != 5 || std::strcmp(argv[1], "run")) {
        std::fprintf(stderr, "usage: engine run JOB TRACE OUT\n");
        return 2;
    }
    try {
        anemone::run(argv[2], argv[3], argv[4]);
    } catch (const std::exception& e) {
        std::fflush(stdout);
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return 0;
}
