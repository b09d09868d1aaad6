// SPDX-License-Identifier: GPL-2.0
#include "rule_fields.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a field is: the line of the rule's field that holds it, or of the rule. */
static int line_of(const struct scope *s, const char *key)
{
	size_t size = strcspn(key, "[");

	if (*s->path)
		return toml_get(s->rule, s->path)->line;
	for (const struct toml *node = s->rule->first; node; node = node->next)
		if (node->key_size == size && !memcmp(node->key, key, size))
			return node->line;
	return s->rule->line;
}

static void end(const struct scope *s, const char *key, const char *value, const char *allowed)
{
	AUTO_FREE char *shown_key = toml_oneline(key, strlen(key), 80);
	const char *dot = *s->path ? "." : "";
	const struct toml *name;

	if (!s->number)
		bad_input("%s: top level: %s is %s; allowed: %s", s->file, shown_key, value,
			  allowed);
	name = s->rule->kind == TOML_TABLE ? toml_get(s->rule, "name") : NULL;
	if (name && name->kind == TOML_STRING) {
		AUTO_FREE char *called = toml_oneline(name->text, name->size, 180);

		bad_input("%s: rule %u \"%s\" (line %d): %s%s%s is %s; allowed: %s", s->file,
			  s->number, called, line_of(s, key), s->path, dot, shown_key, value,
			  allowed);
	}
	bad_input("%s: rule %u (line %d): %s%s%s is %s; allowed: %s", s->file, s->number,
		  line_of(s, key), s->path, dot, shown_key, value, allowed);
}

void wrong(const struct scope *s, const char *key, const struct toml *value, const char *allowed,
	   ...)
{
	AUTO_FREE char *words = NULL, *shown = NULL;
	va_list arguments;

	if (!value && s->table)
		value = toml_get(s->table, key);
	if (value)
		shown = toml_show(value);
	va_start(arguments, allowed);
	if (vasprintf(&words, allowed, arguments) < 0)
		fail("out of memory");
	va_end(arguments);
	end(s, key, shown ? shown : "missing", words);
	abort(); /* end() does not return; it cannot say so, for its cleanups */
}

void wrong_words(const struct scope *s, const char *key, const char *value, const char *allowed)
{
	end(s, key, value, allowed);
	abort();
}

const struct toml *field(const struct scope *s, const char *key)
{
	return toml_get(s->table, key);
}

/* --- Keys ------------------------------------------------------------------------------------- */

/* The list as messages have it: commas, and the required ones or all. */
static void list_keys(char *text, size_t room, const char *keys, bool all)
{
	size_t to = 0;

	for (; *keys && (all || *keys != '|') && to + 3 < room; keys++) {
		if (*keys == '|')
			continue;
		if (*keys == ' ' && keys[1] != '|' && keys[1])
			text[to++] = ',';
		if (*keys != ' ' || (keys[1] && (all || keys[1] != '|')))
			text[to++] = *keys;
	}
	while (to && text[to - 1] == ' ')
		to--;
	text[to] = 0;
}

/* Calls for each key of the list; false: the list has ended. */
static bool next_key(const char **keys, char *key, size_t room, bool *optional)
{
	size_t size;

	*keys += strspn(*keys, " ");
	if (**keys == '|') {
		*optional = true;
		*keys += 1 + strspn(*keys + 1, " ");
	}
	size = strcspn(*keys, " |");
	if (!size || size >= room)
		return false;
	memcpy(key, *keys, size);
	key[size] = 0;
	*keys += size;
	return true;
}

void only_keys(const struct scope *s, const char *keys)
{
	char key[32], listed[256];
	const char *rest;
	bool optional;

	for (const struct toml *node = s->table->first; node; node = node->next) {
		bool known = false;

		rest = keys;
		while (!known && next_key(&rest, key, sizeof(key), &optional))
			known = node->key_size == strlen(key) &&
				!memcmp(node->key, key, node->key_size);
		list_keys(listed, sizeof(listed), keys, true);
		if (!known)
			wrong(s, node->key, node, "only the keys %s", listed);
	}
	rest = keys;
	optional = false;
	while (next_key(&rest, key, sizeof(key), &optional) && !optional) {
		list_keys(listed, sizeof(listed), keys, false);
		if (!field(s, key))
			wrong(s, key, NULL, "must give %s", listed);
	}
}

struct scope inner(const struct scope *s, const char *key)
{
	struct scope within = *s;

	within.table = field(s, key);
	if (within.table && within.table->kind != TOML_TABLE)
		wrong(s, key, NULL, "a table { key = value, ... }");
	within.path = key;
	return within;
}

/* --- Values ----------------------------------------------------------------------------------- */

/* "0x" and digits with single underscores between them. `wide`: past 64 bits. */
static bool hex_text(const struct toml *value, uint64_t *number, bool *wide)
{
	const char *text = value->text;
	bool after_digit = false;

	if (value->size < 3 || text[0] != '0' || (text[1] != 'x' && text[1] != 'X'))
		return false;
	*number = 0;
	*wide = false;
	for (size_t i = 2; i < value->size; i++) {
		const char *digits = "0123456789abcdef0123456789ABCDEF";
		const char *digit = text[i] ? strchr(digits, text[i]) : NULL;

		if (text[i] == '_' && after_digit) {
			after_digit = false;
			continue;
		}
		if (!digit)
			return false;
		*wide = *wide || *number >> 60;
		*number = *number << 4 | (uint64_t)((digit - digits) % 16);
		after_digit = true;
	}
	return after_digit;
}

bool is_whole(const struct toml *value)
{
	uint64_t number;
	bool wide;

	return value->kind == TOML_INTEGER ||
	       (value->kind == TOML_STRING && hex_text(value, &number, &wide));
}

bool whole_number(const struct toml *value, uint64_t *number)
{
	bool wide;

	if (value->kind == TOML_STRING)
		return hex_text(value, number, &wide) && !wide;
	*number = value->value;
	return value->kind == TOML_INTEGER && !value->wide && !value->negative;
}

uint64_t number(const struct scope *s, const char *key, uint64_t most, const char *also)
{
	const struct toml *value = field(s, key);
	uint64_t got;
	char top[24];

	if (value && whole_number(value, &got) && got <= most)
		return got;
	snprintf(top, sizeof(top), most < 1 << 20 ? "%llu" : "0x%llx", (unsigned long long)most);
	wrong(s, key, NULL, "a whole number of 0 to %s%s%s%s", top,
	      most == UINT64_MAX ? " or a string of hex" : "", also ? ", or " : "",
	      also ? also : "");
}

bool is_built(const struct scope *s, const struct name *name)
{
	return (s->limits->features & name->feature) == name->feature;
}

char *built_names(const struct scope *s, const struct name *names, const char *last)
{
	size_t room, left = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &room);

	if (!out)
		fail("out of memory");
	for (const struct name *n = names; n->name; n++)
		left += is_built(s, n);
	for (const struct name *n = names; n->name; n++)
		if (is_built(s, n)) {
			left--;
			fprintf(out, "%s%s", n->name, left > 1 ? ", " : left ? last : "");
		}
	fclose(out);
	return text;
}

unsigned int choice(const struct scope *s, const char *key, const struct name *names)
{
	const struct toml *value = field(s, key);
	AUTO_FREE char *allowed = NULL;

	for (const struct name *n = names; n->name; n++)
		if (toml_is(value, n->name) && is_built(s, n))
			return n->code;
	allowed = built_names(s, names, ", ");
	wrong(s, key, NULL, "%s", allowed);
}
