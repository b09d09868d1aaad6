// SPDX-License-Identifier: Apache-2.0
// Chooses one of the faults in a simulator: ANEMONE_FAULT=n for the n-th, none if it is not set.
#include <cstdlib>

extern "C" int chosen_fault() {
    const char* number = std::getenv("ANEMONE_FAULT");
    return number ? std::atoi(number) : 0;
}
