// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "json.h"
#include "target.h"

/* ANEMONE_HARVEST_*. */
static const char *harvest_name(uint32_t harvest)
{
	static const char *const names[] = { "none", "difference", "acknowledge", "effect",
					     "refused" };

	return harvest < sizeof(names) / sizeof(*names) ? names[harvest] : "unknown";
}

static void show(const struct telemetry *t, const struct anemone_status *status, bool json)
{
	const struct {
		const char *name, *label;
		uint64_t value;
	} lines[] = {
		{ "matched", "accesses that updated a counter", status->matched },
		{ "unmapped", "accesses whose key is not mapped", status->unmapped },
		{ "out_of_range", "accesses past the last counter", status->out_of_range },
		{ "notifications", "times the predicate held", status->notifications },
		{ "events", "notifications that were told", status->events },
		{ "parity_errors", "reads with bad parity", status->parity_errors },
		{ "mapped", "keys that are mapped", status->mapped },
		{ "pipelines", "pipelines taken", t->pipelines },
		{ "regions", "regions", t->regions },
		{ "region_counters", "counters of a region", t->region_counters },
		{ "rotated", "keys that take turns", t->turning },
	};

	if (json) {
		json_begin(NULL, '{');
		json_text("name", t->name);
		json_number("id", t->id);
	}
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		if (json)
			json_number(lines[i].name, lines[i].value);
		else
			printf("%-16s %14llu  %s\n", lines[i].name,
			       (unsigned long long)lines[i].value, lines[i].label);
	}
	if (json) {
		json_text("harvest", harvest_name(status->harvest));
		json_end();
	} else {
		printf("%-16s %14s  how reads with effect are made\n", "harvest",
		       harvest_name(status->harvest));
	}
}

static int run(const struct options *o)
{
	struct session session;
	struct link link;
	struct telemetry *t = open_telemetry(o, o->words[0], false, &session, &link);
	struct anemone_status status;

	link_close(&link);
	status = telemetry_status(&session, t);
	show(t, &status, o->json);
	session_free(&session);
	return 0;
}

const struct command command_status = {
	.name = "status",
	.summary = "what became of the accesses that a rule matched",
	.help = "usage: anemonectl status NAME [--json]\n"
		"\n"
		"Every access that passes the rule's filter is matched, unmapped or out of range;\n"
		"shows how many, with notifications, errors, and what the telemetry takes up.\n"
		"\n"
		"  -d, --device D  where several devices have a telemetry of this name\n"
		"  -j, --json      for programs\n",
	.options = OPTION_DEVICE | OPTION_JSON,
	.least = 1,
	.most = 1,
	.run = run,
};
