// SPDX-License-Identifier: GPL-2.0
/* Tables, headers and keys; what is in them is toml_value.c's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toml_read.h"
#include "utf8.h"

/* --- The text --------------------------------------------------------------------------------- */

int toml_line(const struct toml_reader *r)
{
	int line = 1;

	for (const char *c = r->text; c < r->at; c++)
		line += *c == '\n';
	return line;
}

void toml_error(struct toml_reader *r, const char *what)
{
	const char *start = r->at;

	while (start > r->text && start[-1] != '\n')
		start--;
	bad_input("%s: line %d, column %zu: TOML is wrong: %s; allowed: valid TOML", r->file,
		  toml_line(r), (size_t)(r->at - start) + 1, what);
}

int toml_peek(const struct toml_reader *r)
{
	return r->at < r->end ? (unsigned char)*r->at : -1;
}

bool toml_take(struct toml_reader *r, const char *token)
{
	size_t size = strlen(token);

	if ((size_t)(r->end - r->at) < size || memcmp(r->at, token, size))
		return false;
	r->at += size;
	return true;
}

void toml_blanks(struct toml_reader *r)
{
	while (toml_peek(r) == ' ' || toml_peek(r) == '\t')
		r->at++;
}

void toml_comment(struct toml_reader *r)
{
	if (toml_peek(r) != '#')
		return;
	for (; r->at < r->end && *r->at != '\n'; r->at++)
		if (((unsigned char)*r->at < 0x20 && *r->at != '\t') || *r->at == 0x7f)
			toml_error(r, "a control character in a comment");
}

void toml_gap(struct toml_reader *r)
{
	for (;;) {
		toml_blanks(r);
		toml_comment(r);
		if (toml_peek(r) != '\n')
			return;
		r->at++;
	}
}

/* --- Nodes ------------------------------------------------------------------------------------ */

struct toml *toml_node(enum toml_kind kind, int line)
{
	struct toml *node = zeroed(1, sizeof(*node));

	node->kind = kind;
	node->line = line;
	return node;
}

void toml_append(struct toml *parent, struct toml *child)
{
	if (parent->last)
		parent->last->next = child;
	else
		parent->first = child;
	parent->last = child;
	parent->count++;
}

void toml_free(struct toml *node)
{
	while (node) {
		struct toml *next = node->next;

		toml_free(node->first);
		free(node->key);
		free(node->text);
		free(node);
		node = next;
	}
}

static struct toml *find(const struct toml *table, const char *key, size_t size)
{
	for (struct toml *node = table->first; node; node = node->next)
		if (node->key_size == size && !memcmp(node->key, key, size))
			return node;
	return NULL;
}

struct toml *toml_get(const struct toml *table, const char *key)
{
	return find(table, key, strlen(key));
}

bool toml_is(const struct toml *node, const char *text)
{
	return node->kind == TOML_STRING && node->size == strlen(text) &&
	       !memcmp(node->text, text, node->size);
}

/* --- Keys ------------------------------------------------------------------------------------- */

static bool bare(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '-';
}

void toml_key(struct toml_reader *r, char **key, size_t *size)
{
	const char *start = r->at;

	if (toml_peek(r) == '"' || toml_peek(r) == '\'') {
		toml_string(r, false, key, size);
		return;
	}
	while (bare(toml_peek(r)))
		r->at++;
	*size = (size_t)(r->at - start);
	if (!*size)
		toml_error(r, "a key or a [header] was expected");
	*key = resize(NULL, *size + 1, 1);
	memcpy(*key, start, *size);
	(*key)[*size] = 0;
}

static struct toml *add(struct toml *table, enum toml_kind kind, char *key, size_t size, int line)
{
	struct toml *node = toml_node(kind, line);

	node->key = key;
	node->key_size = size;
	toml_append(table, node);
	return node;
}

/* The dot between two keys, or the end of the whole. */
static bool dot(struct toml_reader *r)
{
	toml_blanks(r);
	if (!toml_take(r, "."))
		return false;
	toml_blanks(r);
	return true;
}

/*
 * The table of this name in `table`, made if it is not there. Of an array of tables the last one.
 * Takes over `key`.
 */
static struct toml *enter(struct toml_reader *r, struct toml *table, char *key, size_t size,
			  bool *made)
{
	struct toml *node = find(table, key, size);

	*made = !node;
	if (!node)
		return add(table, TOML_TABLE, key, size, toml_line(r));
	free(key);
	if (node->frozen)
		toml_error(r, "what has been written in one piece cannot be added to");
	if (node->tables)
		node = node->last;
	if (node->kind != TOML_TABLE)
		toml_error(r, "this key has a value already");
	return node;
}

void toml_pair(struct toml_reader *r, struct toml *table, bool within)
{
	int line = toml_line(r);
	struct toml *value;
	char *key;
	size_t size;
	bool made;

	toml_key(r, &key, &size);
	while (dot(r)) {
		struct toml *there = find(table, key, size);

		/* A header's table is complete, and a dotted key's with its section. */
		if (!within && there &&
		    (there->declared || (there->section && there->section != r->section)))
			toml_error(r, "this table has been written already");
		table = enter(r, table, key, size, &made);
		if (made)
			table->section = r->section;
		toml_key(r, &key, &size);
	}
	if (!toml_take(r, "="))
		toml_error(r, "\"=\" was expected behind the key");
	toml_blanks(r);
	value = toml_value(r);
	if (find(table, key, size))
		toml_error(r, "this key has a value already");
	value->key = key;
	value->key_size = size;
	value->line = line;
	value->frozen = value->kind == TOML_TABLE || value->kind == TOML_ARRAY;
	toml_append(table, value);
}

/* --- Headers ---------------------------------------------------------------------------------- */

static struct toml *header(struct toml_reader *r, struct toml *table)
{
	bool tables = toml_take(r, "[["), made;
	int line = toml_line(r);
	struct toml *node;
	char *key;
	size_t size;

	if (!tables)
		r->at++;
	r->section++;
	toml_blanks(r);
	for (toml_key(r, &key, &size); dot(r); toml_key(r, &key, &size))
		table = enter(r, table, key, size, &made);
	if (!toml_take(r, tables ? "]]" : "]"))
		toml_error(r, tables ? "\"]]\" was expected" : "\"]\" was expected");
	if (!tables) {
		node = find(table, key, size);
		if (node && (node->tables || node->declared || node->section))
			toml_error(r, "this table has been written already");
		node = enter(r, table, key, size, &made);
		node->declared = true;
		node->line = line;
		return node;
	}
	node = find(table, key, size);
	if (node && !(node->kind == TOML_ARRAY && node->tables))
		toml_error(r, "this key has a value that is no [[table]]");
	if (node)
		free(key);
	else
		node = add(table, TOML_ARRAY, key, size, line);
	node->tables = true;
	node->declared = true;
	toml_append(node, toml_node(TOML_TABLE, line));
	return node->last;
}

/* --- All -------------------------------------------------------------------------------------- */

/* As Python reads text: ends of lines of another system are ours. In place. */
static size_t plain_lines(char *text, size_t size)
{
	size_t to = 0;

	for (size_t i = 0; i < size; i++)
		if (!(text[i] == '\r' && i + 1 < size && text[i + 1] == '\n'))
			text[to++] = text[i];
	return to;
}

static void check_utf8(const char *file, const char *text, size_t size)
{
	int line = 1;
	uint32_t code;

	for (size_t at = 0, length; at < size; at += length) {
		length = utf8_decode(text + at, size - at, &code);
		if (!length)
			bad_input("%s: line %d: text is byte 0x%02x; allowed: UTF-8 text", file,
				  line, (unsigned char)text[at]);
		line += code == '\n';
	}
}

struct toml *toml_parse(const char *file, const char *text, size_t size)
{
	AUTO_FREE char *copy = resize(NULL, size + 1, 1);
	struct toml_reader r = { .file = file, .text = copy, .at = copy };
	struct toml *root = toml_node(TOML_TABLE, 1), *table = root;

	check_utf8(file, text, size);
	memcpy(copy, text, size);
	size = plain_lines(copy, size);
	r.end = copy + size;
	/* Sections start at 1: 0 is no dotted key's. */
	for (r.section = 1; toml_gap(&r), r.at < r.end;) {
		if (toml_peek(&r) == '[')
			table = header(&r, root);
		else
			toml_pair(&r, table, false);
		toml_blanks(&r);
		toml_comment(&r);
		if (r.at < r.end && *r.at != '\n')
			toml_error(&r, "the end of the line was expected");
	}
	return root;
}
