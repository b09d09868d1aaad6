// SPDX-License-Identifier: GPL-2.0
#include "wire.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* More keys than any table has. */
#define MOST_KEYS (1u << 22)

static bool send_all(int socket, const void *data, size_t size)
{
	while (size) {
		ssize_t sent = send(socket, data, size, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return false;
		data = (const char *)data + sent;
		size -= (size_t)sent;
	}
	return true;
}

static bool receive_all(int socket, void *data, size_t size)
{
	while (size) {
		ssize_t got = recv(socket, data, size, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		data = (char *)data + got;
		size -= (size_t)got;
	}
	return true;
}

bool wire_send(int socket, const struct wire_message *message, int fd)
{
	struct iovec data = { .iov_base = (void *)message, .iov_len = sizeof(*message) };
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct msghdr header = { .msg_iov = &data, .msg_iovlen = 1 };
	struct cmsghdr *passed;
	ssize_t sent;

	if (fd < 0)
		return send_all(socket, message, sizeof(*message));
	header.msg_control = control.bytes;
	header.msg_controllen = sizeof(control.bytes);
	passed = CMSG_FIRSTHDR(&header);
	passed->cmsg_level = SOL_SOCKET;
	passed->cmsg_type = SCM_RIGHTS;
	passed->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(passed), &fd, sizeof(fd));
	do
		sent = sendmsg(socket, &header, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)sizeof(*message);
}

bool wire_receive(int socket, struct wire_message *message, int *fd)
{
	struct iovec data = { .iov_base = message, .iov_len = sizeof(*message) };
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr header = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	ssize_t got;

	*fd = -1;
	do
		got = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got <= 0)
		return false;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&header); c; c = CMSG_NXTHDR(&header, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
			memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return receive_all(socket, (char *)message + got, sizeof(*message) - (size_t)got);
}

bool wire_send_telemetry(int socket, const struct telemetry *telemetry)
{
	struct telemetry sent = *telemetry;

	/* Addresses mean nothing over there. */
	sent.map = NULL;
	sent.turns = NULL;
	return send_all(socket, &sent, sizeof(sent)) &&
	       send_all(socket, telemetry->map, sent.mapped * sizeof(*sent.map)) &&
	       send_all(socket, telemetry->turns, sent.turning * sizeof(*sent.turns));
}

bool wire_receive_telemetry(int socket, struct telemetry *telemetry)
{
	if (!receive_all(socket, telemetry, sizeof(*telemetry)))
		return false;
	telemetry->map = NULL;
	telemetry->turns = NULL;
	if (telemetry->mapped > MOST_KEYS || telemetry->turning > MOST_KEYS ||
	    telemetry->name[NAME_SIZE - 1])
		return false;
	telemetry->map = resize(NULL, telemetry->mapped, sizeof(*telemetry->map));
	telemetry->turns = resize(NULL, telemetry->turning, sizeof(*telemetry->turns));
	if (receive_all(socket, telemetry->map, telemetry->mapped * sizeof(*telemetry->map)) &&
	    receive_all(socket, telemetry->turns, telemetry->turning * sizeof(*telemetry->turns)))
		return true;
	telemetry_free(telemetry);
	return false;
}

/* --- Places ----------------------------------------------------------------------------------- */

bool wire_directory(char *path, size_t room)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	struct stat info;

	/* Of another user's (su, sudo -E) nothing is to be left in it, nor trusted. */
	if (runtime && *runtime == '/' && !stat(runtime, &info) && info.st_uid == geteuid())
		snprintf(path, room, "%s/anemone", runtime);
	else
		snprintf(path, room, "/run/anemone-%u", geteuid());
	if (mkdir(path, 0700) && errno != EEXIST)
		return false;
	if (lstat(path, &info))
		return false;
	if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid() || info.st_mode & 077) {
		errno = EPERM;
		return false;
	}
	return true;
}

bool wire_path(const char *device, const char *suffix, char *path, size_t room)
{
	const char *slash = strrchr(device, '/');
	char folder[PATH_MAX];
	int size;

	if (!wire_directory(folder, sizeof(folder)))
		return false;
	size = snprintf(path, room, "%s/%s.%s", folder, slash ? slash + 1 : device, suffix);
	if (size < 0 || (size_t)size >= room ||
	    (size_t)size >= sizeof(((struct sockaddr_un *)0)->sun_path)) {
		errno = ENAMETOOLONG;
		return false;
	}
	return true;
}
