/* SPDX-License-Identifier: GPL-2.0 */
/* The command line: commands, and the options that they share. */
#ifndef ANEMONECTL_OPTIONS_H
#define ANEMONECTL_OPTIONS_H

#include "rules.h"

/* Which options a command takes. */
#define OPTION_DEVICE (1u << 0)
#define OPTION_FILE (1u << 1)
#define OPTION_JSON (1u << 2)
#define OPTION_ALL (1u << 3)
#define OPTION_UNMAP (1u << 4)
#define OPTION_SNAPSHOT (1u << 5)
#define OPTION_CHANNELS (1u << 6)
#define OPTION_INTERVAL (1u << 7)
#define OPTION_TOP (1u << 8)
#define OPTION_ONCE (1u << 9)
#define OPTION_PERIOD (1u << 10)
#define OPTION_STOP (1u << 11)
#define OPTION_OUTPUT (1u << 12)
#define OPTION_COUNTERS (1u << 13)
#define OPTION_LIMITS (1u << 14) /* --pipelines, --states, --table, --device-gib, --flat */

struct options {
	const char *device, *file, *output;
	bool json, all, unmap, snapshot, channels, once, stop, counters;
	double interval; /* seconds */
	uint32_t top, period_ms;
	struct limits limits;
	/* What is no option. */
	char **words;
	int count;
};

struct command {
	const char *name;
	const char *summary; /* a line of the list of commands */
	const char *help;    /* the whole page; begins with the usage */
	unsigned int options;
	int least, most; /* words */
	int (*run)(const struct options *options);
};

extern const struct command command_list, command_add, command_run, command_map, command_read,
	command_watch, command_status, command_rotate, command_rm, command_check;

/* Reads the words behind a command's name; ends the program for --help and for wrong ones. */
struct options parse_options(const struct command *command, int argc, char **argv);

#endif
