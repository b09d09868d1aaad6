// SPDX-License-Identifier: GPL-2.0
#include "holder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "device.h"
#include "wire.h"

#define MOST_CLIENTS 64
/* A holder without telemetries looks whether it may end. */
#define LOOK_MS 200
/* One that was started and never used. */
#define UNUSED_LOOKS 50

struct held {
	struct telemetry telemetry;
	int owner; /* socket of the client that has not committed it; -1: it stays */
};

struct holder {
	const char *device;
	int fd;
	struct held *held;
	uint32_t count;
	int clients[MOST_CLIENTS];
	unsigned int connected;
};

static struct held *by_id(struct holder *h, uint32_t id)
{
	for (uint32_t i = 0; i < h->count; i++)
		if (h->held[i].telemetry.id == id)
			return &h->held[i];
	return NULL;
}

static int drop(struct holder *h, struct held *held)
{
	struct anemone_id call = { .size = sizeof(call), .id = held->telemetry.id };
	int error = device_ioctl(h->fd, ANEMONE_REMOVE, &call) ? errno : 0;

	telemetry_free(&held->telemetry);
	*held = h->held[--h->count];
	return error;
}

static void put(struct holder *h, int client, struct telemetry *telemetry)
{
	struct held *held = by_id(h, telemetry->id);

	if (held) {
		telemetry_free(&held->telemetry);
	} else {
		h->held = resize(h->held, h->count + 1, sizeof(*h->held));
		held = &h->held[h->count++];
		held->owner = client;
	}
	held->telemetry = *telemetry;
}

/* --- Clients ---------------------------------------------------------------------------------- */

static bool welcome(struct holder *h, int client)
{
	struct wire_message message = { .version = WIRE_VERSION,
					.kind = WIRE_WELCOME,
					.count = h->count };
	struct timeval slow = { .tv_sec = 10 };
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &size) ||
	    (peer.uid != geteuid() && peer.uid != 0))
		return false;
	/* One that stops in the middle must not stop the others for ever. */
	setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &slow, sizeof(slow));
	setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &slow, sizeof(slow));
	if (!wire_send(client, &message, h->fd))
		return false;
	for (uint32_t i = 0; i < h->count; i++)
		if (!wire_send_telemetry(client, &h->held[i].telemetry))
			return false;
	return true;
}

/* One message; false: the client is gone, or not one of ours. */
static bool serve(struct holder *h, int client)
{
	struct wire_message message, answer = { .version = WIRE_VERSION, .kind = WIRE_DONE };
	struct telemetry telemetry;
	struct held *held;
	int fd;

	if (!wire_receive(client, &message, &fd))
		return false;
	if (fd >= 0)
		close(fd);
	if (message.version != WIRE_VERSION)
		return false;
	switch (message.kind) {
	case WIRE_PUT:
		if (!wire_receive_telemetry(client, &telemetry))
			return false;
		put(h, client, &telemetry);
		break;
	case WIRE_REMOVE:
		held = by_id(h, message.id);
		answer.count = (uint32_t)(held ? drop(h, held) : ENOENT);
		break;
	case WIRE_COMMIT:
		for (uint32_t i = 0; i < h->count; i++)
			if (h->held[i].owner == client)
				h->held[i].owner = -1;
		break;
	default:
		return false;
	}
	return wire_send(client, &answer, -1);
}

static void leave(struct holder *h, unsigned int index)
{
	int client = h->clients[index];

	for (uint32_t i = h->count; i-- > 0;)
		if (h->held[i].owner == client)
			drop(h, &h->held[i]);
	close(client);
	h->clients[index] = h->clients[--h->connected];
}

/* --- The end ---------------------------------------------------------------------------------- */

/* A command that is about to connect has the lock: then it is not the end. */
static void end_unless_wanted(const struct holder *h)
{
	char path[PATH_MAX];
	int lock;

	if (!wire_path(h->device, "lock", path, sizeof(path)))
		exit(0);
	lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB)) {
		close(lock);
		return;
	}
	if (wire_path(h->device, "sock", path, sizeof(path)))
		unlink(path);
	exit(0);
}

void holder_serve(const char *device, int device_fd, int listening)
{
	struct holder h = { .device = device, .fd = device_fd };
	struct pollfd polled[1 + MOST_CLIENTS];
	unsigned int looks = 0;
	bool used = false;

	for (;;) {
		bool idle = !h.count && !h.connected;
		unsigned int clients = h.connected;

		if (idle && (used || ++looks > UNUSED_LOOKS))
			end_unless_wanted(&h);
		polled[0] = (struct pollfd){ .fd = clients < MOST_CLIENTS ? listening : -1,
					     .events = POLLIN };
		for (unsigned int i = 0; i < clients; i++)
			polled[1 + i] = (struct pollfd){ .fd = h.clients[i], .events = POLLIN };
		if (poll(polled, 1 + clients, idle ? LOOK_MS : -1) < 0)
			continue;
		/* From the last: the one that leaves is replaced by one that was looked at. */
		for (unsigned int i = clients; i-- > 0;)
			if (polled[1 + i].revents && !serve(&h, h.clients[i]))
				leave(&h, i);
		if (polled[0].revents & POLLIN) {
			int client = accept4(listening, NULL, NULL, SOCK_CLOEXEC);

			if (client >= 0) {
				h.clients[h.connected++] = client;
				used = true;
				if (!welcome(&h, client))
					leave(&h, h.connected - 1);
			}
		}
	}
}
