// SPDX-License-Identifier: GPL-2.0
#include "show.h"
#include "target.h"

static int run(const struct options *o)
{
	const struct reading reading = { o->snapshot, o->channels, o->all, o->json };
	struct session session;
	struct link link;
	struct telemetry *t = open_telemetry(o, o->words[0], false, &session, &link);

	link_close(&link);
	show_counters(&session, t, &reading);
	session_free(&session);
	return 0;
}

const struct command command_read = {
	.name = "read",
	.summary = "read counters, with the rule's read effect",
	.help = "usage: anemonectl read NAME [--snapshot] [--channels] [--all] [--json]\n"
		"\n"
		"Shows the counters that are not zero: region, offset in it, value, and the "
		"addresses\n"
		"they stand for (of the first key, where a region has several). The rule's "
		"read_effect\n"
		"is applied: with a reset each read begins an interval. Of a telemetry that is\n"
		"rotated, what each key counted in its last turn.\n"
		"\n"
		"      --snapshot  without the read effect: nobody else notices\n"
		"      --channels  a value for each memory channel, instead of the whole\n"
		"  -a, --all       those that are zero, too\n"
		"  -d, --device D  where several devices have a telemetry of this name\n"
		"  -j, --json      for programs\n",
	.options = OPTION_SNAPSHOT | OPTION_CHANNELS | OPTION_ALL | OPTION_DEVICE | OPTION_JSON,
	.least = 1,
	.most = 1,
	.run = run,
};
