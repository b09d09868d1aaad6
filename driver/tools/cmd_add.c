// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>

#include "json.h"
#include "show.h"
#include "target.h"

static int run(const struct options *options)
{
	AUTO_FREE char *device = NULL;
	struct session session;
	struct limits limits;
	struct rules rules;
	struct link link;

	if (!options->file)
		bad_input("add: --file is missing; allowed: a rule file (docs/rules.md), - for "
			  "stdin");
	device = chosen_device(options);
	limits = device_limits(device);
	rules = read_rules(options->file, &limits);
	link_open(device, true, true, &session, &link);
	for (size_t i = 0; i < rules.count; i++)
		if (find_telemetry(&session, rules.rule[i].name))
			bad_input("%s: rule %zu: name is \"%s\"; allowed: one that is not taken on "
				  "%s (`anemonectl rm` frees it)",
				  options->file, i + 1, rules.rule[i].name, device);
	/* Whatever ends the program before the commit takes all of them back. */
	session.telemetry =
		resize(session.telemetry, session.count + rules.count, sizeof(*session.telemetry));
	for (size_t i = 0; i < rules.count; i++) {
		struct telemetry *added = &session.telemetry[session.count + i];

		telemetry_add(&session, &rules.rule[i], added);
		link_put(&link, added);
		telemetry_map_rule(&session, &rules.rule[i], added);
		link_put(&link, added);
	}
	link_commit(&link);
	link_close(&link);
	show_added(&session, session.telemetry + session.count, (uint32_t)rules.count,
		   options->json);
	session.count += (uint32_t)rules.count;
	session_free(&session);
	free_rules(&rules);
	return 0;
}

const struct command command_add = {
	.name = "add",
	.summary = "add the rules of a file, all or none",
	.help = "usage: anemonectl add -f RULES.toml [--device D] [--json]\n"
		"\n"
		"Adds each [[rule]] of the file (docs/rules.md) as a telemetry and maps its keys; "
		"if\n"
		"one is refused, none is added. They count until `anemonectl rm`: a process in "
		"the\n"
		"background, anemone-holder, keeps the device open for them and ends with the "
		"last.\n"
		"A map's base indices have to be multiples of the region's counters, as the "
		"driver\n"
		"places regions; read_every is of replays and ignored.\n"
		"\n"
		"  -f, --file F    the rules; - for stdin\n"
		"  -d, --device D  /dev/anemone1, anemone1 or 1; not needed where there is only "
		"one\n"
		"  -j, --json      for programs: a list with an object for each rule\n"
		"\n"
		"example:  anemonectl add -f hotness.toml && anemonectl watch hotness\n",
	.options = OPTION_FILE | OPTION_DEVICE | OPTION_JSON,
	.run = run,
};
