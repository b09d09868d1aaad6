// SPDX-License-Identifier: GPL-2.0
/* A command's side of the holder. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"
#include "holder.h"
#include "wire.h"

static _Noreturn void no_place(const char *device)
{
	char folder[PATH_MAX] = "";

	wire_directory(folder, sizeof(folder));
	fail("%s: no place for the holder's socket: %s: %s; set XDG_RUNTIME_DIR to a directory "
	     "of your own",
	     device, folder, strerror(errno));
}

static int lock_of(const char *device)
{
	char path[PATH_MAX];
	int lock;

	if (!wire_path(device, "lock", path, sizeof(path)))
		no_place(device);
	lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (lock < 0)
		fail("%s: %s", path, strerror(errno));
	while (flock(lock, LOCK_EX))
		if (errno != EINTR)
			fail("%s: lock: %s", path, strerror(errno));
	return lock;
}

static struct sockaddr_un address_of(const char *device)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (!wire_path(device, "sock", address.sun_path, sizeof(address.sun_path)))
		no_place(device);
	return address;
}

static int new_socket(void)
{
	int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (made < 0)
		fail("socket: %s", strerror(errno));
	return made;
}

/* What it inherited would otherwise stay open with it: a pipe's end, the command's own socket. */
static void close_all_but(int one, int other)
{
	unsigned int low = (unsigned int)(one < other ? one : other);
	unsigned int high = (unsigned int)(one < other ? other : one);

	if (low > 3)
		close_range(3, low - 1, 0);
	if (high > low + 1)
		close_range(low + 1, high - 1, 0);
	close_range(high + 1, ~0u, 0);
}

/* In the child: as a process of its own, with nothing of the shell's. */
static _Noreturn void become_holder(const char *device, int fd, int listening)
{
	int nothing;

	setsid();
	/* The grandchild can never get a terminal again. */
	if (fork())
		_exit(0);
	close_all_but(fd, listening);
	nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	prctl(PR_SET_NAME, "anemone-holder");
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_DFL);
	for (int i = 0; i < 3; i++)
		dup2(nothing, i);
	if (chdir("/"))
		_exit(1);
	holder_serve(device, fd, listening);
}

static void start_holder(const char *device)
{
	struct sockaddr_un address = address_of(device);
	int fd = device_open(device), listening = new_socket();
	mode_t mask;
	pid_t child;
	int bound;

	if (fd < 0)
		fail("%s: %s", device, strerror(errno));
	unlink(address.sun_path); /* of a holder that was killed: nobody answered */
	mask = umask(0177);
	bound = bind(listening, (struct sockaddr *)&address, sizeof(address));
	umask(mask);
	if (bound || listen(listening, 16))
		fail("%s: %s", address.sun_path, strerror(errno));
	child = fork();
	if (child < 0)
		fail("fork: %s", strerror(errno));
	if (!child)
		become_holder(device, fd, listening);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	close(listening);
	close(fd);
}

static void receive_session(const char *device, struct session *session, struct link *link)
{
	struct wire_message message;

	*session = (struct session){ .path = strdup(device), .fd = -1 };
	if (!session->path)
		fail("out of memory");
	if (!wire_receive(link->socket, &message, &session->fd) || session->fd < 0)
		fail("%s: the holder does not answer", device);
	if (message.version != WIRE_VERSION)
		fail("%s: the holder is of another version of anemonectl: end it (a process "
		     "anemone-holder), and its telemetries with it",
		     device);
	session->telemetry = zeroed(message.count, sizeof(*session->telemetry));
	while (session->count < message.count) {
		if (!wire_receive_telemetry(link->socket, &session->telemetry[session->count]))
			fail("%s: the holder ended in the middle of its answer", device);
		session->count++;
	}
	if (!device_info(session->fd, &session->info))
		fail("%s: %s", device, strerror(errno));
}

bool link_open(const char *device, bool start, bool change, struct session *session,
	       struct link *link)
{
	struct sockaddr_un address;

	link->lock = lock_of(device);
	address = address_of(device);
	link->socket = new_socket();
	if (connect(link->socket, (struct sockaddr *)&address, sizeof(address))) {
		if (!start) {
			link_close(link);
			return false;
		}
		start_holder(device);
		if (connect(link->socket, (struct sockaddr *)&address, sizeof(address)))
			fail("%s: %s", address.sun_path, strerror(errno));
	}
	receive_session(device, session, link);
	if (!change) {
		close(link->lock);
		link->lock = -1;
	}
	return true;
}

/* Waits for the answer to a message. */
static void done(struct link *link, const char *what)
{
	struct wire_message answer;
	int fd;

	if (!wire_receive(link->socket, &answer, &fd) || answer.kind != WIRE_DONE)
		fail("the holder ended before it could %s", what);
	if (answer.count)
		fail("the holder could not %s: %s", what, strerror((int)answer.count));
}

static void request(struct link *link, enum wire_kind kind, uint32_t id)
{
	struct wire_message message = { .version = WIRE_VERSION, .kind = kind, .id = id };

	/* A failure shows when the answer does not come. */
	(void)!wire_send(link->socket, &message, -1);
}

void link_put(struct link *link, const struct telemetry *telemetry)
{
	request(link, WIRE_PUT, telemetry->id);
	(void)!wire_send_telemetry(link->socket, telemetry);
	done(link, "take the telemetry");
}

void link_remove(struct link *link, uint32_t id)
{
	request(link, WIRE_REMOVE, id);
	done(link, "remove the telemetry");
}

void link_commit(struct link *link)
{
	request(link, WIRE_COMMIT, 0);
	done(link, "keep the telemetries");
}

void link_close(struct link *link)
{
	close(link->socket);
	if (link->lock >= 0)
		close(link->lock);
}
