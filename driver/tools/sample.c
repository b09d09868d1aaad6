// SPDX-License-Identifier: GPL-2.0
#include "sample.h"

#include <stdlib.h>

static int hottest_first(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (x->region != y->region)
		return x->region > y->region ? 1 : -1;
	return x->offset > y->offset ? 1 : x->offset < y->offset ? -1 : 0;
}

/* What was counted between two looks, though somebody else may have read with a reset between. */
static uint64_t difference(const struct anemone_spec *spec, uint64_t now, uint64_t before)
{
	unsigned int width = spec_width(spec);
	uint64_t all = width < 64 ? (1ULL << width) - 1 : UINT64_MAX;

	if (now < before && spec->read_effect.op == ANEMONE_OP_RESET)
		return now - (spec->read_effect.operand & all);
	return (now - before) & all;
}

static void add_row(struct sample *sample, struct row row)
{
	if (!row.count)
		return;
	sample->row[sample->rows++] = row;
	sample->total += row.count;
}

static void of_region(struct sample *sample, const struct session *session,
		      const struct telemetry *t, uint32_t region, const uint64_t *values,
		      const uint64_t *last, const struct region_keys *keys)
{
	struct row whole = { .region = region, .keys = keys->count };

	for (uint32_t i = 0; i < t->region_counters; i++) {
		uint64_t value = values[i];

		if (sample->is_count)
			value = difference(&t->spec, value, last ? last[i] : 0);
		whole.count += value;
		if (sample->by_counter) {
			struct row row = {
				.region = region, .offset = i, .count = value, .keys = keys->count
			};

			if (value && keys->count)
				row.span = counter_span(session, &t->spec, keys->key, i);
			add_row(sample, row);
		}
	}
	if (whole.count && keys->count)
		whole.span = key_span(session, &t->spec, keys->key);
	if (!sample->by_counter)
		add_row(sample, whole);
}

static void of_turn(struct sample *sample, const struct session *session, const struct telemetry *t,
		    uint32_t index)
{
	AUTO_FREE uint64_t *values = zeroed(t->region_counters, sizeof(*values));
	uint64_t key = t->turns[index];
	struct row whole = { .region = key, .keys = 1, .span = key_span(session, &t->spec, key) };
	struct anemone_turn turn;

	if (!telemetry_turn(session, t, index, &turn, values))
		return;
	for (uint32_t i = 0; i < t->region_counters; i++) {
		whole.count += values[i];
		if (sample->by_counter)
			add_row(sample,
				(struct row){ .region = key,
					      .offset = i,
					      .count = values[i],
					      .keys = 1,
					      .span = counter_span(session, &t->spec, key, i) });
	}
	if (!sample->by_counter)
		add_row(sample, whole);
}

struct sample take_sample(const struct session *session, const struct telemetry *t, bool by_counter,
			  uint64_t **last)
{
	uint32_t regions = t->turning ? t->turning : t->regions;
	bool adds = t->spec.update.op == ANEMONE_OP_ADD || t->spec.update.op == ANEMONE_OP_ADDSAT;
	struct sample sample = {
		.by_counter = by_counter || !adds,
		.is_count = adds && !t->turning,
		.is_turn = t->turning,
		.row = zeroed((size_t)regions * t->region_counters, sizeof(*sample.row)),
	};

	for (uint32_t i = 0; i < t->turning; i++)
		of_turn(&sample, session, t, i);
	if (!t->turning) {
		AUTO_FREE struct region_keys *keys = keys_of_regions(t);
		uint64_t *values = telemetry_read(session, t, ANEMONE_READ_SNAPSHOT);

		for (uint32_t i = 0; i < t->regions; i++) {
			size_t first = (size_t)i * t->region_counters;

			of_region(&sample, session, t, i, values + first,
				  *last ? *last + first : NULL, &keys[i]);
		}
		free(*last);
		*last = values;
	}
	qsort(sample.row, sample.rows, sizeof(*sample.row), hottest_first);
	return sample;
}
