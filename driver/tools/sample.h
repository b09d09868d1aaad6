/* SPDX-License-Identifier: GPL-2.0 */
/* What a telemetry counted since it was last looked at, hottest first; it is not disturbed. */
#ifndef ANEMONECTL_SAMPLE_H
#define ANEMONECTL_SAMPLE_H

#include "addresses.h"

/* A region, a counter of one, or a key that takes turns. */
struct row {
	uint64_t region; /* or key */
	uint32_t offset; /* with `by_counter` */
	uint64_t count;
	uint32_t keys;
	struct span span;
};

struct sample {
	bool by_counter; /* a row for each counter, not for each region */
	bool is_count;	 /* else values of an op whose differences mean nothing */
	bool is_turn;	 /* of each key's last turn, whenever that was */
	struct row *row; /* without those of 0 */
	uint32_t rows;
	uint64_t total;
};

/* Differences are to the values of the last look; `*last` is NULL before the first, and freed. */
struct sample take_sample(const struct session *session, const struct telemetry *telemetry,
			  bool by_counter, uint64_t **last);

#endif
