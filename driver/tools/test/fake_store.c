// SPDX-License-Identifier: GPL-2.0
#include "fake_store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* An open file that is gone holds its lock no more: what it had ends. */
static void bury(int fd, struct fake_device *device)
{
	uint64_t self = (uint64_t)lseek(fd, 0, SEEK_CUR);

	for (int i = 0; i < FAKE_TELEMETRIES; i++) {
		struct fake_telemetry *t = &device->telemetry[i];
		struct flock probe = { .l_type = F_WRLCK, .l_start = (off_t)t->owner, .l_len = 1 };

		if (!t->owner || t->owner == self)
			continue;
		if (!fcntl(fd, F_OFD_GETLK, &probe) && probe.l_type == F_UNLCK)
			memset(t, 0, sizeof(*t));
	}
}

bool fake_enter(int fd, struct fake_device **device)
{
	struct stat info;

	/* Not flock(): that would be of the open file, which several processes may share. */
	struct flock whole = { .l_type = F_WRLCK, .l_start = 0, .l_len = 1 };

	while (fcntl(fd, F_SETLKW, &whole))
		if (errno != EINTR)
			return false;
	if (fstat(fd, &info))
		return false;
	if ((size_t)info.st_size < sizeof(**device)) {
		errno = ENODEV;
		return false;
	}
	*device = mmap(NULL, sizeof(**device), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (*device == MAP_FAILED)
		return false;
	bury(fd, *device);
	return true;
}

void fake_leave(int fd, struct fake_device *device)
{
	struct flock whole = { .l_type = F_UNLCK, .l_start = 0, .l_len = 1 };
	int error = errno;

	munmap(device, sizeof(*device));
	fcntl(fd, F_SETLK, &whole);
	errno = error;
}
