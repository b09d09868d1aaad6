// SPDX-License-Identifier: GPL-2.0
#include "options.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Codes of options without a letter: past all letters. */
enum code {
	UNMAP = 256,
	SNAPSHOT,
	CHANNELS,
	ONCE,
	PERIOD,
	STOP,
	COUNTERS,
	PIPELINES,
	STATES,
	TABLE,
	DEVICE_GIB,
	FLAT
};

static const struct {
	struct option option;
	unsigned int bit;
} known[] = {
	{ { "device", required_argument, NULL, 'd' }, OPTION_DEVICE },
	{ { "file", required_argument, NULL, 'f' }, OPTION_FILE },
	{ { "json", no_argument, NULL, 'j' }, OPTION_JSON },
	{ { "all", no_argument, NULL, 'a' }, OPTION_ALL },
	{ { "unmap", no_argument, NULL, UNMAP }, OPTION_UNMAP },
	{ { "snapshot", no_argument, NULL, SNAPSHOT }, OPTION_SNAPSHOT },
	{ { "channels", no_argument, NULL, CHANNELS }, OPTION_CHANNELS },
	{ { "interval", required_argument, NULL, 'i' }, OPTION_INTERVAL },
	{ { "top", required_argument, NULL, 'n' }, OPTION_TOP },
	{ { "once", no_argument, NULL, ONCE }, OPTION_ONCE },
	{ { "period", required_argument, NULL, PERIOD }, OPTION_PERIOD },
	{ { "stop", no_argument, NULL, STOP }, OPTION_STOP },
	{ { "output", required_argument, NULL, 'o' }, OPTION_OUTPUT },
	{ { "counters", no_argument, NULL, COUNTERS }, OPTION_COUNTERS },
	{ { "pipelines", required_argument, NULL, PIPELINES }, OPTION_LIMITS },
	{ { "states", required_argument, NULL, STATES }, OPTION_LIMITS },
	{ { "table", required_argument, NULL, TABLE }, OPTION_LIMITS },
	{ { "device-gib", required_argument, NULL, DEVICE_GIB }, OPTION_LIMITS },
	{ { "flat", no_argument, NULL, FLAT }, OPTION_LIMITS },
	{ { "help", no_argument, NULL, 'h' }, ~0u },
};

#define KNOWN (sizeof(known) / sizeof(*known))

static double seconds(const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (!*text || *end || !isfinite(value) || value < 0.01 || value > 86400)
		bad_input("--interval is \"%s\"; allowed: 0.01 to 86400 seconds", text);
	return value;
}

static void take(struct options *o, int code, const char *text)
{
	switch (code) {
	case 'd':
		o->device = text;
		break;
	case 'f':
		o->file = text;
		break;
	case 'o':
		o->output = text;
		break;
	case 'i':
		o->interval = seconds(text);
		break;
	case 'n':
		o->top = (uint32_t)parse_number("--top", text, 1, 1000000);
		break;
	case PERIOD:
		o->period_ms = (uint32_t)parse_number("--period", text, 1, 60000);
		break;
	case PIPELINES:
		o->limits.pipelines = (uint32_t)parse_number("--pipelines", text, 1, 32);
		break;
	case STATES:
		o->limits.states = (uint32_t)parse_number("--states", text, 16, 1 << 20);
		break;
	case TABLE:
		o->limits.table = (uint32_t)parse_number("--table", text, 2, 1 << 18);
		break;
	case DEVICE_GIB:
		o->limits.bytes = parse_number("--device-gib", text, 1, 1 << 21) << 30;
		break;
	}
}

static void flag(struct options *o, int code)
{
	bool *flags[] = {
		['j'] = &o->json,	   ['a'] = &o->all,	      [UNMAP] = &o->unmap,
		[SNAPSHOT] = &o->snapshot, [CHANNELS] = &o->channels, [ONCE] = &o->once,
		[STOP] = &o->stop,	   [COUNTERS] = &o->counters, [FLAT] = &o->limits.flat,
	};

	*flags[code] = true;
}

struct options parse_options(const struct command *command, int argc, char **argv)
{
	struct options o = { .interval = 1, .top = 20, .limits = default_limits };
	struct option longs[KNOWN + 1] = { 0 };
	char letters[2 * KNOWN + 3] = "+:";
	unsigned int count = 0;
	size_t to = 2;
	int code;

	for (size_t i = 0; i < KNOWN; i++) {
		if (!(known[i].bit & (command->options | 1u << 31)))
			continue;
		longs[count] = known[i].option;
		if (longs[count].val < 256)
			letters[to++] = (char)longs[count].val;
		if (longs[count].val < 256 && longs[count].has_arg)
			letters[to++] = ':';
		count++;
	}
	/* Options may stand behind words, but for those of a command that is run. */
	if (command->most >= 0)
		memmove(letters, letters + 1, to);
	opterr = 0;
	while ((code = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		const char *word = argv[optind - 1];

		if (code == 'h') {
			fputs(command->help, stdout);
			exit(0);
		}
		if (code == '?' || code == ':')
			bad_input("%s: %s %s; `anemonectl %s --help` lists the options",
				  command->name, word,
				  code == ':' ? "needs a value" : "is no option of it",
				  command->name);
		if (optarg)
			take(&o, code, optarg);
		else
			flag(&o, code);
	}
	o.words = argv + optind;
	o.count = argc - optind;
	if (o.count < command->least || (command->most >= 0 && o.count > command->most)) {
		/* The first line of the page is the usage. */
		bad_input("%s: %s; %.*s", command->name,
			  o.count < command->least ? "something is missing" : "too many words",
			  (int)strcspn(command->help, "\n"), command->help);
	}
	return o;
}
