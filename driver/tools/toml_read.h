/* SPDX-License-Identifier: GPL-2.0 */
/* Between the two halves of the reader: toml.c (tables) and toml_value.c (what is in them). */
#ifndef ANEMONECTL_TOML_READ_H
#define ANEMONECTL_TOML_READ_H

#include "toml.h"

struct toml_reader {
	const char *file;
	const char *text, *at, *end;
	int section; /* headers so far */
	int depth;
};

/* Deeper than anything a rule has, and far from the end of the stack. */
#define TOML_DEEPEST 64

_Noreturn void toml_error(struct toml_reader *r, const char *what);
int toml_line(const struct toml_reader *r);
/* The next character, or -1 at the end. */
int toml_peek(const struct toml_reader *r);
bool toml_take(struct toml_reader *r, const char *token);
void toml_blanks(struct toml_reader *r);
/* Blanks, ends of lines and comments. */
void toml_gap(struct toml_reader *r);
void toml_comment(struct toml_reader *r);

struct toml *toml_node(enum toml_kind kind, int line);
void toml_append(struct toml *parent, struct toml *child);
/* Reads one key of a dotted one; *key is to be freed. */
void toml_key(struct toml_reader *r, char **key, size_t *size);
/* Reads `a.b.c = value` into `table`. */
void toml_pair(struct toml_reader *r, struct toml *table, bool within);
struct toml *toml_value(struct toml_reader *r);
/* A string; `lines`: it may be a """ or ''' one. */
void toml_string(struct toml_reader *r, bool lines, char **text, size_t *size);

#endif
