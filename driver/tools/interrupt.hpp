/* SPDX-License-Identifier: GPL-2.0 */
/* Ctrl-C and SIGTERM, for commands that run until then. */
#ifndef ANEMONECTL_INTERRUPT_HPP
#define ANEMONECTL_INTERRUPT_HPP

#include <csignal>

extern volatile std::sig_atomic_t interrupted;

/* From here on a signal sets `interrupted`, and blocking system calls return EINTR. */
void catch_interrupts();

#endif
