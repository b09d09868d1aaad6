// SPDX-License-Identifier: GPL-2.0
#include "addresses.h"

#include <inttypes.h>
#include <stdio.h>

#include "json.h"

struct region_keys *keys_of_regions(const struct telemetry *telemetry)
{
	struct region_keys *keys = zeroed(telemetry->regions, sizeof(*keys));

	for (uint32_t i = 0; i < telemetry->mapped; i++) {
		const struct anemone_entry *entry = &telemetry->map[i];

		/* The caller's own memory: where it is, only its process knows. */
		if (entry->region >= telemetry->regions || entry->flags & ANEMONE_ENTRY_VIRTUAL)
			continue;
		if (!keys[entry->region].count++)
			keys[entry->region].key = entry->key;
	}
	return keys;
}

static unsigned int address_bits(const struct session *session, const struct anemone_spec *spec)
{
	return spec->flags & ANEMONE_SPEC_HOST ? 64 : session->info.address_bits;
}

/* A value that a mask and shift gave, as the addresses that give it; `top`: bits of an address. */
static struct span reverse(const struct anemone_field *field, uint64_t value, unsigned int top)
{
	uint64_t all = top < 64 ? (1ULL << top) - 1 : UINT64_MAX;
	/* Bits below the shift count for nothing, and so do those that no address has. */
	uint64_t mask = field->mask >> field->shift << field->shift & all;
	uint64_t low = mask ? (mask & -mask) - 1 : all;

	/* One range only if the mask has every bit from its lowest one on. */
	return (struct span){
		.known = (mask | low) == all && (value << field->shift & ~mask) == 0,
		.first = value << field->shift,
		.last = (value << field->shift) + low,
	};
}

static struct span clipped(struct span span, const struct anemone_spec *spec)
{
	if (!spec->filter.start && !spec->filter.end)
		return span;
	if (span.first >= spec->filter.end || span.last < spec->filter.start)
		span.known = false;
	if (span.first < spec->filter.start)
		span.first = spec->filter.start;
	if (span.last >= spec->filter.end)
		span.last = spec->filter.end - 1;
	return span;
}

struct span key_span(const struct session *session, const struct anemone_spec *spec, uint64_t key)
{
	return clipped(reverse(&spec->translation.primary, key, address_bits(session, spec)), spec);
}

struct span counter_span(const struct session *session, const struct anemone_spec *spec,
			 uint64_t key, uint64_t offset)
{
	struct span whole = reverse(&spec->translation.primary, key, address_bits(session, spec));
	uint64_t reach = whole.last - whole.first;
	unsigned int top = reach ? 64 - (unsigned int)__builtin_clzll(reach) : 0;
	struct span part = reverse(&spec->translation.sub, offset, top);

	/* Offset bits that the key has, too, would not be free. */
	if (!whole.known || !part.known || part.last > reach || spec->translation.sub.mask & ~reach)
		return (struct span){ 0 };
	part.first += whole.first;
	part.last += whole.first;
	return clipped(part, spec);
}

void span_text(char *text, const struct span *span, uint32_t keys)
{
	int size = 0;

	if (span->known)
		size = snprintf(text, SPAN_TEXT, "0x%" PRIx64 "-0x%" PRIx64, span->first,
				span->last);
	else
		size = snprintf(text, SPAN_TEXT, "-");
	if (keys > 1)
		snprintf(text + size, SPAN_TEXT - (size_t)size, " +%u key%s", keys - 1,
			 keys > 2 ? "s" : "");
}

void json_span(const struct span *span)
{
	if (!span->known) {
		json_null("addresses");
		return;
	}
	json_begin("addresses", '[');
	json_number(NULL, span->first);
	json_number(NULL, span->last);
	json_end();
}
