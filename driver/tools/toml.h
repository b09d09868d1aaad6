/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A reader of TOML 1.0, as much as rule files are made of: tables, arrays, strings, whole numbers.
 * Anything else a value may be (a float, a boolean, a date) is kept as it is written: no field of
 * a rule takes one, and its message can show it.
 */
#ifndef ANEMONECTL_TOML_H
#define ANEMONECTL_TOML_H

#include "common.h"

enum toml_kind { TOML_STRING, TOML_INTEGER, TOML_OTHER, TOML_ARRAY, TOML_TABLE };

struct toml {
	enum toml_kind kind;
	int line;
	/* In a table: what it is called there. May hold a 0 like any other text. */
	char *key;
	size_t key_size;
	/* Of a string its content, of another scalar how it is written. */
	char *text;
	size_t size;
	/* Of a whole number; `wide`: it is past 64 bits. */
	uint64_t value;
	bool negative, wide;
	/* What is in a table or array, in the file's order. */
	struct toml *first, *last, *next;
	size_t count;
	/* While reading: may it still be added to? `section`: of the dotted key that made it. */
	bool frozen, declared, tables;
	int section;
};

/* The top level of a text; `text` need not outlive the call. Ends the program when it is no TOML.
 */
struct toml *toml_parse(const char *file, const char *text, size_t size);
void toml_free(struct toml *node);
/* Of a table; NULL: not there. */
struct toml *toml_get(const struct toml *table, const char *key);
bool toml_is(const struct toml *node, const char *text);
/* The value as it was written, near enough, on one line and not long. Free it. */
char *toml_show(const struct toml *node);
/* The same of a string without the quotes, of `longest` characters at most. */
char *toml_oneline(const char *text, size_t size, size_t longest);

#endif
