// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device.h"
#include "holder.h"
#include "json.h"
#include "options.h"
#include "show.h"

static void show_json(const struct session *s)
{
	const struct anemone_info *info = &s->info;

	json_begin(NULL, '{');
	json_text("device", s->path);
	json_text("pci", info->device);
	json_number("version_major", info->version >> 16);
	json_number("version_minor", info->version & 0xffff);
	json_number("pipelines", info->pipelines);
	json_number("pipelines_free", info->pipelines_free);
	json_number("channels", info->channels);
	json_number("states", info->states);
	json_number("table", info->table);
	json_number("address_bits", info->address_bits);
	json_number("features", info->features);
	json_number("host_base", info->host_base);
	json_number("host_size", info->host_size);
	json_bool("interrupts", info->flags & ANEMONE_INFO_INTERRUPTS);
	json_number("interrupts_taken", info->interrupts);
	json_number("interrupts_spurious", info->spurious);
	json_bool("flat", info->flags & ANEMONE_INFO_FLAT);
	json_bool("failed", info->flags & ANEMONE_INFO_FAILED);
	json_begin("telemetries", '[');
	for (uint32_t i = 0; i < s->count; i++) {
		json_begin(NULL, '{');
		json_telemetry(&s->telemetry[i]);
		json_end();
	}
	json_end();
	json_end();
}

static void show(const struct session *s)
{
	const struct anemone_info *info = &s->info;

	printf("%s  %s  register map %u.%u%s\n", s->path, info->device, info->version >> 16,
	       info->version & 0xffff,
	       info->flags & ANEMONE_INFO_FAILED ? "  FAILED: given up by its driver" : "");
	printf("  pipelines   %u, %u free\n", info->pipelines, info->pipelines_free);
	printf("  counters    %u channels, %u words of 64 bits a pipeline on each\n",
	       info->channels, info->states);
	printf("  table       %u keys a pipeline\n", info->table);
	printf("  memory      %u bits of address", info->address_bits);
	if (info->host_size)
		printf(", at 0x%llx-0x%llx of the host", info->host_base,
		       info->host_base + info->host_size - 1);
	printf("\n  flat mode   %s\n", info->flags & ANEMONE_INFO_FLAT ? "built in" : "no");
	if (info->flags & ANEMONE_INFO_INTERRUPTS)
		printf("  interrupts  %llu taken, %llu spurious\n", info->interrupts,
		       info->spurious);
	else
		printf("  interrupts  none: the driver looks for notifications\n");
	for (uint32_t i = 0; i < s->count; i++) {
		const struct telemetry *t = &s->telemetry[i];

		printf("  telemetry   %s: id %u, %u pipeline%s, %u region%s of %u, %u mapped\n",
		       t->name, t->id, t->pipelines, t->pipelines == 1 ? "" : "s", t->regions,
		       t->regions == 1 ? "" : "s", t->region_counters, t->mapped);
	}
}

/* Of a device that cannot be opened the others are still listed. */
static bool list_one(const char *path, bool json)
{
	struct session session;
	struct link link;

	if (link_open(path, false, false, &session, &link)) {
		link_close(&link);
	} else {
		session = (struct session){ .path = strdup(path), .fd = device_open(path) };
		if (!session.path)
			fail("out of memory");
		if (session.fd < 0 || !device_info(session.fd, &session.info)) {
			note("%s: %s", path, strerror(errno));
			session_free(&session);
			return false;
		}
	}
	(json ? show_json : show)(&session);
	session_free(&session);
	return true;
}

static int run(const struct options *options)
{
	char **paths;
	unsigned int count = device_paths(&paths);
	int status = 0;

	if (options->json)
		json_begin(NULL, '[');
	else if (!count)
		puts("no devices: is the driver loaded (lsmod | grep anemone)?");
	for (unsigned int i = 0; i < count; i++) {
		if (!list_one(paths[i], options->json))
			status = STATUS_FAILED;
		free(paths[i]);
	}
	free(paths);
	if (options->json)
		json_end();
	return status;
}

const struct command command_list = {
	.name = "list",
	.summary = "devices, what they can do, and the telemetries that are held",
	.help = "usage: anemonectl list [--json]\n"
		"\n"
		"Lists /dev/anemone*: pipelines and how many are free, counters, keys, the "
		"memory's\n"
		"place in the host's address space, flat memory mode, and the telemetries of your\n"
		"own that `anemonectl add` has added.\n"
		"\n"
		"  -j, --json  for programs: a list with an object for each device\n",
	.options = OPTION_JSON,
	.run = run,
};
