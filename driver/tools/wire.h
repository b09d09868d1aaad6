/* SPDX-License-Identifier: GPL-2.0 */
/* Between anemonectl and its holder, which are one program: messages on a stream socket. */
#ifndef ANEMONECTL_WIRE_H
#define ANEMONECTL_WIRE_H

#include "telemetry.h"

/* Changes with anything that is sent: a holder may be older than the program. */
#define WIRE_VERSION 1

enum wire_kind {
	WIRE_WELCOME = 1, /* holder: a device's descriptor and `count` telemetries follow */
	WIRE_PUT,	  /* a telemetry, new or changed, that follows */
	WIRE_REMOVE,	  /* the one with this id */
	WIRE_COMMIT,	  /* what was new since the connection began is to stay */
	WIRE_DONE,	  /* holder: so it is; `count` is an errno or 0 */
};

struct wire_message {
	uint32_t version;
	uint32_t kind;
	uint32_t count;
	uint32_t id;
};

/* Each says false when the other end is gone, slow or talks nonsense. */
bool wire_send(int socket, const struct wire_message *message, int fd);
bool wire_receive(int socket, struct wire_message *message, int *fd);
bool wire_send_telemetry(int socket, const struct telemetry *telemetry);
bool wire_receive_telemetry(int socket, struct telemetry *telemetry);

/* The directory of this user's sockets, made if it is not there; false: no such place (errno). */
bool wire_directory(char *path, size_t room);
/* Names of a device's files there: `suffix` is "sock" or "lock". false: too long for a socket. */
bool wire_path(const char *device, const char *suffix, char *path, size_t room);

#endif
