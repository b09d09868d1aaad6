// SPDX-License-Identifier: Apache-2.0
// Which of the faults in a simulator is chosen: ANEMONE_FAULT=n the n-th, without it none.
#include <cstdlib>

extern "C" int chosen_fault() {
    const char* number = std::getenv("ANEMONE_FAULT");
    return number ? std::atoi(number) : 0;
}
