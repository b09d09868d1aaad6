// SPDX-License-Identifier: GPL-2.0
#include "interrupt.hpp"

volatile std::sig_atomic_t interrupted;

static void interrupt(int) {
    interrupted = 1;
}

void catch_interrupts() {
    struct sigaction action = {};

    action.sa_handler = interrupt;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}
