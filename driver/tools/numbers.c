// SPDX-License-Identifier: GPL-2.0
#include "numbers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line's words into `to`; false: there are none. */
static bool read_line(const char *file, size_t line, char *text, unsigned int columns,
		      const char *const *names, uint64_t *to)
{
	unsigned int column = 0;
	char what[512], *rest;

	text[strcspn(text, "#")] = 0;
	for (char *word = strtok_r(text, " \t\r,", &rest); word;
	     word = strtok_r(NULL, " \t\r,", &rest)) {
		if (column == columns)
			bad_input("%s: line %zu: word %u is \"%.40s\"; allowed: %u on a line", file,
				  line, column + 1, word, columns);
		snprintf(what, sizeof(what), "%.300s: line %zu: %s", file, line, names[column]);
		to[column++] = parse_number(what, word, 0, UINT64_MAX);
	}
	if (column && column < columns)
		bad_input("%s: line %zu: %s is missing; allowed: %u numbers on a line", file, line,
			  names[column], columns);
	return column;
}

uint64_t *read_numbers(const char *path, unsigned int columns, const char *const *names,
		       size_t *rows)
{
	size_t size, line = 0, room = 64;
	AUTO_FREE char *text = read_file(path, &size);
	uint64_t *numbers = resize(NULL, room * columns, sizeof(*numbers));
	char *rest = text;

	*rows = 0;
	if (memchr(text, 0, size))
		bad_input("%s: file: content is binary; allowed: lines of numbers", path);
	for (char *next; (next = strsep(&rest, "\n"));) {
		if (*rows == room) {
			room *= 2;
			numbers = resize(numbers, room * columns, sizeof(*numbers));
		}
		line++;
		if (read_line(path, line, next, columns, names, numbers + *rows * columns))
			(*rows)++;
	}
	return numbers;
}
