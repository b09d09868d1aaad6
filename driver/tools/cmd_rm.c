// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>

#include "device.h"
#include "json.h"
#include "target.h"

/* All of a device's holder; their number. */
static uint32_t remove_all(const char *device)
{
	struct session session;
	struct link link;
	uint32_t count;

	if (!link_open(device, false, true, &session, &link))
		return 0;
	count = session.count;
	for (uint32_t i = 0; i < count; i++)
		link_remove(&link, session.telemetry[i].id);
	link_close(&link);
	session_free(&session);
	return count;
}

static void show(uint32_t removed, bool json)
{
	if (!json) {
		printf("%u removed\n", removed);
		return;
	}
	json_begin(NULL, '{');
	json_number("removed", removed);
	json_end();
}

static int run(const struct options *o)
{
	struct session session;
	struct telemetry *t;
	struct link link;

	if (o->all ? o->count : !o->count)
		bad_input("rm: %s; allowed: NAME or --all",
			  o->all ? "NAME and --all" : "NAME is missing");
	if (!o->all) {
		t = open_telemetry(o, o->words[0], true, &session, &link);
		link_remove(&link, t->id);
		link_close(&link);
		session_free(&session);
		if (o->json)
			show(1, true);
		return 0;
	}
	if (o->device) {
		AUTO_FREE char *device = chosen_device(o);

		show(remove_all(device), o->json);
	} else {
		char **paths;
		unsigned int count = device_paths(&paths);
		uint32_t removed = 0;

		for (unsigned int i = 0; i < count; i++) {
			removed += remove_all(paths[i]);
			free(paths[i]);
		}
		free(paths);
		show(removed, o->json);
	}
	return 0;
}

const struct command command_rm = {
	.name = "rm",
	.summary = "remove a telemetry, or all",
	.help = "usage: anemonectl rm NAME | --all [--device D] [--json]\n"
		"\n"
		"Ends the telemetry; its pipelines are free again and its counters gone. With the\n"
		"last one the process that held them ends, too.\n"
		"\n"
		"  -a, --all       all that you have added\n"
		"  -d, --device D  only on this device\n"
		"  -j, --json      for programs\n",
	.options = OPTION_ALL | OPTION_DEVICE | OPTION_JSON,
	.most = 1,
	.run = run,
};
