/* SPDX-License-Identifier: GPL-2.0 */
/* Fields of a rule taken out of its TOML table, and what is wrong with them said in one line. */
#ifndef ANEMONECTL_RULE_FIELDS_H
#define ANEMONECTL_RULE_FIELDS_H

#include "names.h"
#include "toml.h"

/* A table of a rule file that is being read. */
struct scope {
	const char *file;
	const struct limits *limits;
	unsigned int number; /* of the rule, from 1; 0: the top level */
	const struct toml *rule;
	const struct toml *table; /* the rule, or one in it that is called `path` */
	const char *path;
};

/* "FILE: rule 2 "skew" (line 17): primary.shift is 99; allowed: ..."; the program ends. */
_Noreturn void wrong(const struct scope *s, const char *key, const struct toml *value,
		     const char *allowed, ...) PRINTF(4, 5);
/* The same with a value in words. */
_Noreturn void wrong_words(const struct scope *s, const char *key, const char *value,
			   const char *allowed);

/* Only these keys, separated by blanks, and all of those before "|". */
void only_keys(const struct scope *s, const char *keys);
/* A table in this one; `table` is NULL when there is none. */
struct scope inner(const struct scope *s, const char *key);
const struct toml *field(const struct scope *s, const char *key);

/* A whole number of any sign and size; a string of hex is one, too. */
bool is_whole(const struct toml *value);
/* Its value; false: it is something else, negative or past 64 bits. */
bool whole_number(const struct toml *value, uint64_t *number);
/* A field of at most `most`; `also`: what else it could be, or NULL. */
uint64_t number(const struct scope *s, const char *key, uint64_t most, const char *also);
/* The code of a name out of those that are built in. */
unsigned int choice(const struct scope *s, const char *key, const struct name *names);
/* Names that are built in, as "a, b<last>c". Free it. */
char *built_names(const struct scope *s, const struct name *names, const char *last);
bool is_built(const struct scope *s, const struct name *name);

#endif
