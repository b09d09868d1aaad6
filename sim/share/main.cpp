// SPDX-License-Identifier: Apache-2.0
// Runs two hosts on the verilated expander; see share.h. Started by anemone.backends.rtl.
//   engine MESSAGES LINES IN_FLIGHT LOAD READS LATENCY REFRESH_EVERY REFRESH_FOR SEED
// Exit: 0 done; 1 a check failed; 2 usage; 3 an assertion of the RTL.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "share.h"

int main(int argc, char** argv) {
    if (argc != 10) {
        std::fprintf(stderr, "usage: engine MESSAGES LINES IN_FLIGHT LOAD READS LATENCY "
                             "REFRESH_EVERY REFRESH_FOR SEED\n");
        return 2;
    }
    const auto whole = [argv](int i) { return std::strtoull(argv[i], nullptr, 10); };
    const auto real = [argv](int i) { return std::strtod(argv[i], nullptr); };
    try {
        anemone::share({whole(1), whole(2), whole(3), real(4), real(5), whole(6), whole(7),
                        whole(8), whole(9)});
    } catch (const std::exception& e) {
        std::fflush(stdout);
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return 0;
}
