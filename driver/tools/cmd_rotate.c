// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "json.h"
#include "numbers.h"
#include "target.h"

static int run(const struct options *o)
{
	static const char *const names[] = { "key" };
	AUTO_FREE uint64_t *keys = NULL;
	struct session session;
	uint64_t sweep_ns = 0;
	struct telemetry *t;
	struct link link;
	size_t count = 0;

	if (o->stop == (o->file || o->period_ms) || (!o->stop && !(o->file && o->period_ms)))
		bad_input("rotate: allowed: NAME --period MS -f KEYS, or NAME --stop");
	if (o->file) {
		keys = read_numbers(o->file, 1, names, &count);
		if (!count)
			bad_input("%s: file: keys are missing; allowed: one or more lines \"KEY\"",
				  o->file);
	}
	t = open_telemetry(o, o->words[0], true, &session, &link);
	telemetry_rotate(&session, t, keys, (uint32_t)count, o->period_ms, &sweep_ns);
	link_put(&link, t);
	link_close(&link);
	if (o->json) {
		json_begin(NULL, '{');
		json_text("name", t->name);
		json_number("keys", count);
		json_number("period_ms", t->period_ms);
		json_number("sweep_ns", sweep_ns);
		json_end();
	} else if (o->stop) {
		printf("%s: rotation ended; no key is mapped\n", t->name);
	} else {
		printf("%s: %zu keys take turns of %u ms, %u at a time; all have had one after "
		       "%.1f s\n",
		       t->name, count, t->period_ms, t->regions, (double)sweep_ns / 1e9);
	}
	session_free(&session);
	return 0;
}

const struct command command_rotate = {
	.name = "rotate",
	.summary = "let more keys take turns than there are regions",
	.help = "usage: anemonectl rotate NAME --period MS -f KEYS | NAME --stop\n"
		"\n"
		"Of the keys, as many as the telemetry has regions are counted for a period, "
		"read,\n"
		"and followed by the next. `anemonectl read` then shows what each counted in its\n"
		"last turn.\n"
		"\n"
		"      --period MS  of a turn, 1 to 60000 ms\n"
		"  -f, --file F     a key on each line; # begins a comment; - for stdin\n"
		"      --stop       end it\n"
		"  -d, --device D   where several devices have a telemetry of this name\n"
		"  -j, --json       for programs\n"
		"\n"
		"example:  seq 0 4095 | anemonectl rotate skew --period 500 -f -\n",
	.options = OPTION_PERIOD | OPTION_FILE | OPTION_STOP | OPTION_DEVICE | OPTION_JSON,
	.least = 1,
	.most = 1,
	.run = run,
};
