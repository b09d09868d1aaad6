/* SPDX-License-Identifier: GPL-2.0 */
/* Files of keys: numbers on lines, with comments. */
#ifndef ANEMONECTL_NUMBERS_H
#define ANEMONECTL_NUMBERS_H

#include "common.h"

/*
 * The file's lines of `columns` whole numbers each (decimal or 0x, between blanks; # begins a
 * comment), one after the other; *rows: lines. `names`: of the columns, for messages. Free it.
 */
uint64_t *read_numbers(const char *path, unsigned int columns, const char *const *names,
		       size_t *rows);

#endif
