/* SPDX-License-Identifier: GPL-2.0 */
/* Which addresses a counter stands for: the reverse of key and offset. */
#ifndef ANEMONECTL_ADDRESSES_H
#define ANEMONECTL_ADDRESSES_H

#include "telemetry.h"

/* Room for addresses in words. */
#define SPAN_TEXT 64

/* The first and last byte of one range; not `known`: several ranges, or none. */
struct span {
	bool known;
	uint64_t first, last;
};

/* Keys of a region: how many, and the first of them. */
struct region_keys {
	uint32_t count;
	uint64_t key;
};

/* For every region. Free it. */
struct region_keys *keys_of_regions(const struct telemetry *telemetry);
/* Of a key; of its counter at an offset. */
struct span key_span(const struct session *session, const struct anemone_spec *spec, uint64_t key);
struct span counter_span(const struct session *session, const struct anemone_spec *spec,
			 uint64_t key, uint64_t offset);
/* "0x200000-0x3fffff", and "+2 keys" when there are three; "-" when not known. */
void span_text(char *text, const struct span *span, uint32_t keys);
void json_span(const struct span *span);

#endif
