// SPDX-License-Identifier: GPL-2.0
#include "json.h"

#include <inttypes.h>
#include <stdio.h>

#define DEEPEST 16

static struct {
	char closing;
	bool filled;
} open_values[DEEPEST];
static unsigned int depth;

static void quoted(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			printf("\\%c", *text);
		else if ((unsigned char)*text < 0x20)
			printf("\\u%04x", *text);
		else
			putchar(*text);
	}
	putchar('"');
}

static void start(const char *key)
{
	if (depth && open_values[depth - 1].filled)
		fputs(", ", stdout);
	if (depth)
		open_values[depth - 1].filled = true;
	if (key) {
		quoted(key);
		fputs(": ", stdout);
	}
}

void json_begin(const char *key, char bracket)
{
	start(key);
	putchar(bracket);
	open_values[depth].closing = bracket == '{' ? '}' : ']';
	open_values[depth++].filled = false;
}

void json_end(void)
{
	putchar(open_values[--depth].closing);
	if (!depth)
		putchar('\n');
}

void json_number(const char *key, uint64_t number)
{
	start(key);
	printf("%" PRIu64, number);
}

void json_fraction(const char *key, double number)
{
	start(key);
	printf("%.6f", number);
}

void json_text(const char *key, const char *text)
{
	start(key);
	quoted(text);
}

void json_bool(const char *key, bool value)
{
	start(key);
	fputs(value ? "true" : "false", stdout);
}

void json_null(const char *key)
{
	start(key);
	fputs("null", stdout);
}
