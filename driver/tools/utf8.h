/* SPDX-License-Identifier: GPL-2.0 */
/* Text as Unicode: is it any, and can it be shown on one line? */
#ifndef ANEMONECTL_UTF8_H
#define ANEMONECTL_UTF8_H

#include "common.h"

/* Bytes of the character at `text`, of which `*code` is the number; 0: this is not UTF-8. */
size_t utf8_decode(const char *text, size_t size, uint32_t *code);
/* Writes a character's bytes, 1 to 4, and returns how many. */
size_t utf8_encode(uint32_t code, char *bytes);
/* Whether it shows as something, or is a plain blank; unassigned characters count as shown. */
bool utf8_printable(uint32_t code);

#endif
