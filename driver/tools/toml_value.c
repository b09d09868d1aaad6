// SPDX-License-Identifier: GPL-2.0
/* What stands behind a key: strings, whole numbers, arrays, inline tables. */
#include <stdlib.h>
#include <string.h>

#include "toml_read.h"
#include "utf8.h"

/* --- Strings ---------------------------------------------------------------------------------- */

static int hex_digit(int c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* \uXXXX and \UXXXXXXXX */
static size_t unicode(struct toml_reader *r, int digits, char *to)
{
	uint32_t code = 0;

	for (; digits; digits--) {
		int digit = hex_digit(toml_peek(r));

		if (digit < 0 || code >> 28)
			toml_error(r, "an escape of a character has too few digits");
		code = code << 4 | (uint32_t)digit;
		r->at++;
	}
	if (code > 0x10ffff || code >> 11 == 0x1b)
		toml_error(r, "an escape of no character");
	return utf8_encode(code, to);
}

/* Behind a backslash; what it stands for goes to `to`, which has room for four bytes. */
static size_t escape(struct toml_reader *r, bool lines, char *to)
{
	static const char names[] = "btnfr\"\\", bytes[] = "\b\t\n\f\r\"\\";
	int c = toml_peek(r);
	const char *name = c > 0 ? strchr(names, c) : NULL;

	if (lines && (c == ' ' || c == '\t' || c == '\n')) {
		toml_blanks(r);
		if (toml_peek(r) != '\n')
			toml_error(r, "a backslash in a string that is no escape");
		while (toml_peek(r) == '\n' || toml_peek(r) == ' ' || toml_peek(r) == '\t')
			r->at++;
		return 0;
	}
	r->at++;
	if (c == 'u' || c == 'U')
		return unicode(r, c == 'u' ? 4 : 8, to);
	if (!name)
		toml_error(r, "a backslash in a string that is no escape");
	*to = bytes[name - names];
	return 1;
}

void toml_string(struct toml_reader *r, bool lines, char **text, size_t *size)
{
	const char *quote = toml_peek(r) == '"' ? "\"" : "'";
	const char *three = *quote == '"' ? "\"\"\"" : "'''";
	bool escapes = *quote == '"';
	char *to;

	lines = lines && toml_take(r, three);
	if (lines)
		toml_take(r, "\n");
	else
		r->at++;
	/* No escape is longer than what it stands for. */
	to = resize(NULL, (size_t)(r->end - r->at) + 4, 1);
	*text = to;
	while (lines ? !toml_take(r, three) : !toml_take(r, quote)) {
		int c = toml_peek(r);

		if (c < 0)
			toml_error(r, "a string without an end");
		if (c == '\\' && escapes) {
			r->at++;
			to += escape(r, lines, to);
			continue;
		}
		if ((c < 0x20 && c != '\t' && !(lines && c == '\n')) || c == 0x7f)
			toml_error(r, "a control character in a string");
		*to++ = *r->at++;
	}
	/* The last two quotes of five belong to the string. */
	for (int i = 0; i < 2 && lines && toml_take(r, quote); i++)
		*to++ = *quote;
	*to = 0;
	*size = (size_t)(to - *text);
}

/* --- Numbers ---------------------------------------------------------------------------------- */

/* Digits with single underscores between them; false: this is none, or not only that. */
static bool digits(struct toml *node, const char *text, size_t size, unsigned int base)
{
	bool after_digit = false;

	node->value = 0;
	for (size_t i = 0; i < size; i++) {
		int digit = hex_digit((unsigned char)text[i]);

		if (text[i] == '_' && after_digit) {
			after_digit = false;
			continue;
		}
		if (digit < 0 || (unsigned int)digit >= base)
			return false;
		after_digit = true;
		node->wide |= __builtin_mul_overflow(node->value, base, &node->value);
		node->wide |= __builtin_add_overflow(node->value, (uint64_t)digit, &node->value);
	}
	return after_digit;
}

static bool integer(struct toml *node)
{
	const char *text = node->text;
	size_t size = node->size;
	static const struct {
		const char *prefix;
		unsigned int base;
	} bases[] = { { "0x", 16 }, { "0o", 8 }, { "0b", 2 } };

	for (size_t i = 0; i < sizeof(bases) / sizeof(*bases); i++)
		if (size > 2 && !memcmp(text, bases[i].prefix, 2))
			return digits(node, text + 2, size - 2, bases[i].base);
	if (*text == '+' || *text == '-') {
		node->negative = *text == '-';
		text++;
		size--;
	}
	if (size > 1 && *text == '0')
		return false;
	return digits(node, text, size, 10);
}

static struct toml *scalar(struct toml_reader *r)
{
	struct toml *node = toml_node(TOML_OTHER, toml_line(r));
	const char *start = r->at;

	while (r->at < r->end && !strchr(" \t\n,]}#=", *r->at))
		r->at++;
	node->size = (size_t)(r->at - start);
	if (!node->size)
		toml_error(r, "a value was expected");
	node->text = resize(NULL, node->size + 1, 1);
	memcpy(node->text, start, node->size);
	node->text[node->size] = 0;
	if (integer(node))
		node->kind = TOML_INTEGER;
	/* There is no negative 0. */
	node->negative = node->negative && (node->value || node->wide);
	return node;
}

/* --- Arrays and tables ------------------------------------------------------------------------ */

static struct toml *array(struct toml_reader *r)
{
	struct toml *node = toml_node(TOML_ARRAY, toml_line(r));

	r->at++;
	for (;;) {
		toml_gap(r);
		if (toml_take(r, "]"))
			return node;
		toml_append(node, toml_value(r));
		toml_gap(r);
		if (toml_take(r, ","))
			continue;
		if (!toml_take(r, "]"))
			toml_error(r, "\",\" or \"]\" was expected");
		return node;
	}
}

static struct toml *inline_table(struct toml_reader *r)
{
	struct toml *node = toml_node(TOML_TABLE, toml_line(r));

	r->at++;
	toml_blanks(r);
	if (toml_take(r, "}"))
		return node;
	for (;;) {
		toml_pair(r, node, true);
		toml_blanks(r);
		if (toml_take(r, "}"))
			return node;
		if (!toml_take(r, ","))
			toml_error(r, "\",\" or \"}\" was expected");
		toml_blanks(r);
	}
}

struct toml *toml_value(struct toml_reader *r)
{
	struct toml *node;

	if (++r->depth > TOML_DEEPEST)
		toml_error(r, "values within values, too deep");
	switch (toml_peek(r)) {
	case '"':
	case '\'':
		node = toml_node(TOML_STRING, toml_line(r));
		toml_string(r, true, &node->text, &node->size);
		break;
	case '[':
		node = array(r);
		break;
	case '{':
		node = inline_table(r);
		break;
	default:
		node = scalar(r);
	}
	r->depth--;
	return node;
}
