// SPDX-License-Identifier: GPL-2.0
/* Values in messages: as they were written, near enough, on one line and never long. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toml.h"
#include "utf8.h"

/* Characters of a text, and elements of a list, that are worth showing. */
#define LONGEST 80
#define MOST_ELEMENTS 4

char *toml_oneline(const char *text, size_t size, size_t longest)
{
	size_t characters = 0, index = 0, tail = longest / 4, length;
	char *shown = NULL;
	size_t room;
	FILE *out = open_memstream(&shown, &room);
	uint32_t code;

	if (!out)
		fail("out of memory");
	for (size_t at = 0; at < size; at++)
		characters += ((unsigned char)text[at] & 0xc0) != 0x80;
	for (size_t at = 0; at < size; at += length, index++) {
		length = utf8_decode(text + at, size - at, &code);
		if (!length)
			break;
		if (characters > longest && index == longest - tail)
			fputs(" ... ", out);
		if (characters > longest && index >= longest - tail && index < characters - tail)
			continue;
		if (utf8_printable(code))
			fwrite(text + at, 1, length, out);
		else if (code == '\n' || code == '\t' || code == '\r')
			fprintf(out, "\\%c", code == '\n' ? 'n' : code == '\t' ? 't' : 'r');
		else
			fprintf(out,
				code < 0x100	 ? "\\x%02" PRIx32
				: code < 0x10000 ? "\\u%04" PRIx32
						 : "\\U%08" PRIx32,
				code);
	}
	fclose(out);
	return shown;
}

static void show_some(FILE *out, const struct toml *node, int depth);

static void show_integer(FILE *out, const struct toml *node)
{
	const char *sign = node->negative ? "-" : "";

	if (node->wide) {
		AUTO_FREE char *text = toml_oneline(node->text, node->size, LONGEST);

		fputs(text, out);
	} else if (node->value < 1 << 20) {
		fprintf(out, "%s%" PRIu64, sign, node->value);
	} else {
		fprintf(out, "%s0x%" PRIx64, sign, node->value);
	}
}

static void show_all_of(FILE *out, const struct toml *node, int depth)
{
	bool table = node->kind == TOML_TABLE;
	int shown = 0;

	fputc(table ? '{' : '[', out);
	if (!depth)
		fputs("...", out);
	for (const struct toml *n = depth ? node->first : NULL; n; n = n->next) {
		if (n != node->first)
			fputs(", ", out);
		if (shown++ == MOST_ELEMENTS) {
			fputs("...", out);
			break;
		}
		if (table) {
			AUTO_FREE char *key = toml_oneline(n->key, n->key_size, LONGEST);

			fprintf(out, "%s = ", key);
		}
		show_some(out, n, depth - 1);
	}
	fputc(table ? '}' : ']', out);
}

static void show_some(FILE *out, const struct toml *node, int depth)
{
	AUTO_FREE char *text = NULL;

	switch (node->kind) {
	case TOML_STRING:
	case TOML_OTHER:
		text = toml_oneline(node->text, node->size, LONGEST);
		fprintf(out, node->kind == TOML_STRING ? "\"%s\"" : "%s", text);
		break;
	case TOML_INTEGER:
		show_integer(out, node);
		break;
	default:
		show_all_of(out, node, depth);
	}
}

char *toml_show(const struct toml *node)
{
	char *shown = NULL;
	size_t room;
	FILE *out = open_memstream(&shown, &room);

	if (!out)
		fail("out of memory");
	show_some(out, node, 2);
	fclose(out);
	return shown;
}
