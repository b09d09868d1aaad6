/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Telemetries belong to the open file that added them. The holder keeps that file open, so that
 * several commands of a shell can share it. It is a background process, one per user and device,
 * which `add` starts and which ends with its last telemetry. It passes its descriptor to the
 * commands, so their calls have their own privileges. It also keeps what the kernel does not:
 * names, and the region of each key.
 */
#ifndef ANEMONECTL_HOLDER_HPP
#define ANEMONECTL_HOLDER_HPP

/* Runs the holder on a listening socket, until no telemetry is left. */
[[noreturn]] void holder_serve(const char* device, int device_fd, int listening);

#endif
