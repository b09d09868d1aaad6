// SPDX-License-Identifier: GPL-2.0
#include "common.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file larger than this is none that a person wrote. */
#define LARGEST_FILE (64u << 20)

static void say(const char *format, va_list arguments)
{
	fflush(stdout);
	fputs("anemonectl: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
}

void fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
	exit(STATUS_FAILED);
}

void bad_input(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
	exit(STATUS_INPUT);
}

void note(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
}

void *resize(void *old, size_t count, size_t size)
{
	/* Never 0 bytes: a null pointer would look like a failure. */
	void *new = reallocarray(old, count ? count : 1, size);

	if (!new)
		fail("out of memory");
	return new;
}

void *zeroed(size_t count, size_t size)
{
	void *new = calloc(count ? count : 1, size);

	if (!new)
		fail("out of memory");
	return new;
}

void free_at_end(void *pointer)
{
	free(*(void **)pointer);
}

char *read_file(const char *path, size_t *size)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	size_t room = 1 << 16;
	char *text;
	ssize_t got;

	if (fd < 0)
		bad_input("%s: file: content is %s; allowed: a file that can be read", path,
			  strerror(errno));
	text = resize(NULL, room + 1, 1);
	*size = 0;
	while ((got = read(fd, text + *size, room - *size)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			bad_input("%s: file: content is %s; allowed: a file that can be read", path,
				  strerror(errno));
		*size += (size_t)got;
		if (*size > LARGEST_FILE)
			bad_input("%s: file: size is over %u MiB; allowed: less", path,
				  LARGEST_FILE >> 20);
		if (*size == room) {
			room *= 2;
			text = resize(text, room + 1, 1);
		}
	}
	if (fd != STDIN_FILENO)
		close(fd);
	text[*size] = 0;
	return text;
}

uint64_t parse_number(const char *what, const char *text, uint64_t least, uint64_t most)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	const char *digits = hex ? text + 2 : text;
	uint64_t value;
	char *end;

	errno = 0;
	value = strtoull(digits, &end, hex ? 16 : 10);
	/* strtoull itself would take a sign and blanks, and a second 0x. */
	if (errno || *end || !*digits ||
	    strspn(digits, "0123456789abcdefABCDEF") != strlen(digits) || value < least ||
	    value > most)
		bad_input("%s is \"%s\"; allowed: a whole number of %" PRIu64 " to %" PRIu64
			  ", decimal or 0x",
			  what, text, least, most);
	return value;
}
