/* SPDX-License-Identifier: Apache-2.0 */
/* For programs in the guest: how they talk to the host, and how they fail. */
#ifndef HOST_H
#define HOST_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Prints an error and exits with 1. */
__attribute__((format(printf, 1, 2), noreturn)) static inline void fail(const char* format, ...) {
    va_list arguments;

    fflush(stdout);
    fputs("failed: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail("%s:%d: %s (errno: %s)", __FILE__, __LINE__, #condition, strerror(errno));        \
    } while (0)

/* Sends a line to the host and waits for the answer, which must be "ok". */
__attribute__((format(printf, 1, 2))) static inline void ask(const char* format, ...) {
    char line[256], answer[256];
    size_t length = 0;
    va_list arguments;
    int fd = open("/dev/ttyS1", O_RDWR | O_NOCTTY | O_CLOEXEC);

    CHECK(fd >= 0);
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    dprintf(fd, "%s\n", line);
    while (length + 1 < sizeof(answer) && read(fd, answer + length, 1) == 1 &&
           answer[length] != '\n')
        length++;
    answer[length] = '\0';
    close(fd);
    if (strncmp(answer, "ok", 2))
        fail("the host, asked for \"%s\", says \"%s\"", line, answer);
}

#endif
