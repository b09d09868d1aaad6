/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Telemetries belong to the open file that added them. So that a shell's commands can share one,
 * a holder keeps it open: a process in the background, one for a user and device, that `add`
 * starts and that ends with its last telemetry. It hands its descriptor to the commands, which make
 * their calls themselves, with their own privileges; it keeps what the kernel does not: names,
 * and which key is mapped to which region.
 */
#ifndef ANEMONECTL_HOLDER_H
#define ANEMONECTL_HOLDER_H

#include "telemetry.h"

/* The connection of a command. */
struct link {
	int socket;
	int lock; /* held: other commands and the holder's end wait */
};

/*
 * Opens the telemetries of a device's holder; with `start` one is started when there is none, else
 * that is false. With `change` no other command changes anything until link_close().
 */
bool link_open(const char *device, bool start, bool change, struct session *session,
	       struct link *link);
/* New, or changed. A new one goes again when the link closes without a commit. */
void link_put(struct link *link, const struct telemetry *telemetry);
/* From the device, too. */
void link_remove(struct link *link, uint32_t id);
void link_commit(struct link *link);
void link_close(struct link *link);

/* The holder itself, on a socket that listens: serves until nothing is left. */
_Noreturn void holder_serve(const char *device, int device_fd, int listening);

#endif
