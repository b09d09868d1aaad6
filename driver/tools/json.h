/* SPDX-License-Identifier: GPL-2.0 */
/* JSON on stdout, a value at a time; `key` is NULL in a list and at the top. */
#ifndef ANEMONECTL_JSON_H
#define ANEMONECTL_JSON_H

#include "common.h"

void json_begin(const char *key, char bracket); /* '{' or '[' */
/* Of the innermost; at the top it ends the line. */
void json_end(void);
void json_number(const char *key, uint64_t number);
void json_fraction(const char *key, double number);
void json_text(const char *key, const char *text);
void json_bool(const char *key, bool value);
void json_null(const char *key);

#endif
