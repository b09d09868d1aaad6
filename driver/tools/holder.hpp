/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Telemetries belong to the open file that added them. The holder keeps that file open, so that a
 * shell's commands can share it: a process in the background, one for a user and device, that `add`
 * starts and that ends with its last telemetry. It hands its descriptor to the commands, which make
 * their calls themselves, with their own privileges. It keeps what the kernel does not: names,
 * and which key is mapped to which region.
 */
#ifndef ANEMONECTL_HOLDER_HPP
#define ANEMONECTL_HOLDER_HPP

/* The holder itself, on a socket that listens: serves until nothing is left. */
[[noreturn]] void holder_serve(const char* device, int device_fd, int listening);

#endif
