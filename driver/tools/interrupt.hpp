/* SPDX-License-Identifier: GPL-2.0 */
/* Ctrl-C and SIGTERM, for commands that go on until then. */
#ifndef ANEMONECTL_INTERRUPT_HPP
#define ANEMONECTL_INTERRUPT_HPP

#include <csignal>

extern volatile std::sig_atomic_t interrupted;

/* From here on a signal sets `interrupted`, and system calls that wait return EINTR. */
void catch_interrupts();

#endif
