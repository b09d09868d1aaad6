// SPDX-License-Identifier: GPL-2.0
#include "show.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "addresses.h"
#include "device.h"
#include "json.h"

struct limits device_limits(const char *path)
{
	struct anemone_info info;
	int fd = device_open(path);

	if (fd < 0 || !device_info(fd, &info))
		fail("%s: %s", path, strerror(errno));
	close(fd);
	return limits_of(&info);
}

void json_telemetry(const struct telemetry *t)
{
	json_text("name", t->name);
	json_number("id", t->id);
	json_number("pipelines", t->pipelines);
	json_number("regions", t->regions);
	json_number("region_counters", t->region_counters);
	json_number("mapped", t->mapped);
}

void show_added(const struct session *session, const struct telemetry *telemetry, uint32_t count,
		bool json)
{
	if (json)
		json_begin(NULL, '[');
	for (const struct telemetry *t = telemetry; t < telemetry + count; t++) {
		if (!json) {
			printf("%s: %s, id %u, %u pipeline%s, %u region%s of %u counter%s, %u "
			       "key%s mapped\n",
			       session->path, t->name, t->id, t->pipelines,
			       t->pipelines == 1 ? "" : "s", t->regions, t->regions == 1 ? "" : "s",
			       t->region_counters, t->region_counters == 1 ? "" : "s", t->mapped,
			       t->mapped == 1 ? "" : "s");
			continue;
		}
		json_begin(NULL, '{');
		json_text("device", session->path);
		json_telemetry(t);
		json_end();
	}
	if (json)
		json_end();
}

/* --- Counters --------------------------------------------------------------------------------- */

static void show_value(const struct session *session, const struct telemetry *t, uint32_t index,
		       const uint64_t *values, uint32_t each, const struct region_keys *keys,
		       bool json)
{
	uint32_t region = index / t->region_counters, offset = index % t->region_counters;
	const struct region_keys *of = &keys[region];
	struct span span = { 0 };
	char text[SPAN_TEXT];

	if (of->count)
		span = counter_span(session, &t->spec, of->key, offset);
	if (!json) {
		span_text(text, &span, of->count);
		printf("%8u %8u", region, offset);
		for (uint32_t c = 0; c < each; c++)
			printf(" %14" PRIu64, values[c]);
		printf("  %s\n", text);
		return;
	}
	json_begin(NULL, '{');
	json_number("region", region);
	json_number("offset", offset);
	if (each == 1)
		json_number("value", *values);
	else
		json_begin("channels", '[');
	for (uint32_t c = 0; each > 1 && c < each; c++)
		json_number(NULL, values[c]);
	if (each > 1)
		json_end();
	json_number("keys", of->count);
	json_span(&span);
	json_end();
}

static bool any(const uint64_t *values, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (values[i])
			return true;
	return false;
}

static void show_regions(const struct session *session, const struct telemetry *t,
			 const struct reading *reading)
{
	uint32_t flags = (reading->snapshot ? ANEMONE_READ_SNAPSHOT : 0) |
			 (reading->channels ? ANEMONE_READ_CHANNELS : 0);
	uint32_t each = reading->channels ? session->info.channels : 1, shown = 0;
	AUTO_FREE uint64_t *values = telemetry_read(session, t, flags);
	AUTO_FREE struct region_keys *keys = keys_of_regions(t);

	if (reading->json) {
		json_begin("counters", '[');
	} else {
		printf("%8s %8s", "REGION", "OFFSET");
		for (uint32_t c = 0; c < each && reading->channels; c++)
			printf("      CHANNEL %u", c);
		if (!reading->channels)
			printf(" %14s", "VALUE");
		puts("  ADDRESSES");
	}
	for (uint32_t i = 0; i < telemetry_counters(t); i++) {
		const uint64_t *value = values + (size_t)i * each;

		if (!reading->all && !any(value, each))
			continue;
		show_value(session, t, i, value, each, keys, reading->json);
		shown++;
	}
	if (reading->json)
		json_end();
	else if (!shown)
		puts("       - all counters are 0");
}

/* --- Turns ------------------------------------------------------------------------------------ */

static void show_turn(const struct session *session, const struct telemetry *t, uint32_t index,
		      const struct reading *reading)
{
	AUTO_FREE uint64_t *values = zeroed(t->region_counters, sizeof(*values));
	struct anemone_turn turn;
	bool had = telemetry_turn(session, t, index, &turn, values);

	if (reading->json) {
		json_begin(NULL, '{');
		json_number("key", t->turns[index]);
		json_number("turns", turn.turns);
		json_number("start_ns", turn.start_ns);
		json_number("end_ns", turn.end_ns);
		json_begin("counters", '[');
	}
	for (uint32_t i = 0; i < t->region_counters && had; i++) {
		struct span span = counter_span(session, &t->spec, t->turns[index], i);
		char text[SPAN_TEXT];

		if (!values[i] && !reading->all)
			continue;
		if (reading->json) {
			json_begin(NULL, '{');
			json_number("offset", i);
			json_number("value", values[i]);
			json_span(&span);
			json_end();
			continue;
		}
		span_text(text, &span, 1);
		printf("%#16" PRIx64 " %8u %14" PRIu64 " %8llu  %s\n", t->turns[index], i,
		       values[i], turn.turns, text);
	}
	if (reading->json) {
		json_end();
		json_end();
	} else if (!had) {
		printf("%#16" PRIx64 " %8s %14s %8u  no turn yet\n", t->turns[index], "-", "-", 0u);
	}
}

void show_counters(const struct session *session, const struct telemetry *t,
		   const struct reading *reading)
{
	if (reading->json) {
		json_begin(NULL, '{');
		json_text("name", t->name);
		json_number("region_counters", t->region_counters);
	}
	if (!t->turning) {
		show_regions(session, t, reading);
	} else {
		if (reading->json) {
			json_number("period_ms", t->period_ms);
			json_begin("turns", '[');
		} else {
			printf("%16s %8s %14s %8s  ADDRESSES\n", "KEY", "OFFSET", "VALUE", "TURNS");
		}
		for (uint32_t i = 0; i < t->turning; i++)
			show_turn(session, t, i, reading);
		if (reading->json)
			json_end();
	}
	if (reading->json)
		json_end();
}
