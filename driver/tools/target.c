// SPDX-License-Identifier: GPL-2.0
#include "target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

static void free_paths(char **paths, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		free(paths[i]);
	free(paths);
}

/* Whether a path is what --device says. */
static bool is_called(const char *path, const char *device)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return !strcmp(path, device) || !strcmp(name, device) ||
	       (!strncmp(name, "anemone", 7) && !strcmp(name + 7, device));
}

/* The devices that a command may be about. */
static unsigned int candidates(const struct options *options, char ***paths)
{
	unsigned int count = device_paths(paths);

	if (!count)
		fail("there is no /dev/anemone*: is the driver loaded (lsmod | grep anemone) and a "
		     "device there?");
	if (!options->device)
		return count;
	for (unsigned int i = 0; i < count; i++)
		if (is_called((*paths)[i], options->device)) {
			char *chosen = (*paths)[i];

			(*paths)[i] = (*paths)[0];
			(*paths)[0] = chosen;
			for (unsigned int j = 1; j < count; j++)
				free((*paths)[j]);
			return 1;
		}
	fprintf(stderr, "anemonectl: --device is \"%s\"; allowed:", options->device);
	for (unsigned int i = 0; i < count; i++)
		fprintf(stderr, " %s", (*paths)[i]);
	fputc('\n', stderr);
	free_paths(*paths, count);
	exit(STATUS_INPUT);
}

char *chosen_device(const struct options *options)
{
	char **paths, *chosen;
	unsigned int count = candidates(options, &paths);

	if (count > 1)
		bad_input("--device is missing; allowed: one of %u devices, from %s to %s", count,
			  paths[0], paths[count - 1]);
	chosen = paths[0];
	free(paths);
	return chosen;
}

struct telemetry *find_telemetry(const struct session *session, const char *name)
{
	for (uint32_t i = 0; i < session->count; i++)
		if (!strcmp(session->telemetry[i].name, name))
			return &session->telemetry[i];
	return NULL;
}

struct telemetry *open_telemetry(const struct options *options, const char *name, bool change,
				 struct session *session, struct link *link)
{
	char **paths;
	unsigned int count = candidates(options, &paths), found = 0, last = 0;

	/* Of several holders only that of the right one stays open. */
	for (unsigned int i = 0; i < count; i++) {
		if (!link_open(paths[i], false, false, session, link))
			continue;
		if (find_telemetry(session, name)) {
			found++;
			last = i;
		}
		link_close(link);
		session_free(session);
	}
	if (found > 1)
		bad_input("telemetry \"%s\" is on %u devices; say which: --device", name, found);
	if (!found || !link_open(paths[last], false, change, session, link) ||
	    !find_telemetry(session, name))
		bad_input("telemetry is \"%s\"; allowed: one that was added (`anemonectl list` "
			  "lists them)",
			  name);
	free_paths(paths, count);
	return find_telemetry(session, name);
}
