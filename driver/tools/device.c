// SPDX-License-Identifier: GPL-2.0
#include "device.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <string.h>
#include <sys/ioctl.h>

#include "common.h"

unsigned int device_paths(char ***paths)
{
	glob_t found = { 0 };
	unsigned int count = 0;

	*paths = NULL;
	if (!glob("/dev/anemone[0-9]*", 0, NULL, &found)) {
		*paths = zeroed(found.gl_pathc, sizeof(**paths));
		for (; count < found.gl_pathc; count++) {
			(*paths)[count] = strdup(found.gl_pathv[count]);
			if (!(*paths)[count])
				fail("out of memory");
		}
	}
	globfree(&found);
	return count;
}

int device_open(const char *path)
{
	return open(path, O_RDWR | O_CLOEXEC);
}

int device_ioctl(int fd, unsigned long request, void *argument)
{
	int result;

	do
		result = ioctl(fd, request, argument);
	while (result < 0 && errno == EINTR);
	return result;
}
