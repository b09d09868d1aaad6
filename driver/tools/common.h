/* SPDX-License-Identifier: GPL-2.0 */
/* What every part of anemonectl needs: how it ends, memory, and integers of a size. */
#ifndef ANEMONECTL_COMMON_H
#define ANEMONECTL_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit statuses: what was asked for is wrong, or it was right and did not work. */
#define STATUS_FAILED 1
#define STATUS_INPUT 2

#define PRINTF(text, first) __attribute__((format(printf, text, first)))

/* One line on stderr, "anemonectl: ..."; the program ends with STATUS_FAILED or STATUS_INPUT. */
_Noreturn void fail(const char *format, ...) PRINTF(1, 2);
_Noreturn void bad_input(const char *format, ...) PRINTF(1, 2);
/* The same line, and the program goes on. */
void note(const char *format, ...) PRINTF(1, 2);

/* Memory, or the end of the program. resize: room for `count` elements of `size` bytes. */
void *resize(void *old, size_t count, size_t size);
void *zeroed(size_t count, size_t size);
/* Frees what `*pointer` points to; for __attribute__((cleanup)) on pointers. */
void free_at_end(void *pointer);
#define AUTO_FREE __attribute__((cleanup(free_at_end)))

/* All of a file, with a 0 behind it; "-" is stdin. Ends the program when it cannot be read. */
char *read_file(const char *path, size_t *size);

/* A whole number, decimal or 0x..., of `least` to `most`, or STATUS_INPUT and what it is for. */
uint64_t parse_number(const char *what, const char *text, uint64_t least, uint64_t most);

#endif
