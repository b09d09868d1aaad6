// SPDX-License-Identifier: GPL-2.0
/* anemonectl: telemetries of an Anemone memory expander, from a shell. See man/anemonectl.8. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "options.h"

static const struct command *const commands[] = {
	&command_list,	&command_add,	 &command_run,	  &command_map, &command_read,
	&command_watch, &command_status, &command_rotate, &command_rm,	&command_check,
};

#define COMMANDS (sizeof(commands) / sizeof(*commands))

static void help(void)
{
	puts("usage: anemonectl COMMAND ...\n"
	     "\n"
	     "Counts memory accesses in an Anemone memory expander, by rules that are written in "
	     "a\n"
	     "file (docs/rules.md).\n");
	for (size_t i = 0; i < COMMANDS; i++)
		printf("  %-8s  %s\n", commands[i]->name, commands[i]->summary);
	puts("\n"
	     "`anemonectl COMMAND --help` tells the rest; --version which this is.\n"
	     "\n"
	     "A first session:\n"
	     "  anemonectl list                    what is there\n"
	     "  anemonectl add -f hotness.toml     count, by 2 MiB page\n"
	     "  anemonectl watch hotness           the hottest pages, as they change\n"
	     "  anemonectl rm hotness\n"
	     "\n"
	     "Exit status: 0; 1 when something did not work; 2 when what was asked for is wrong.");
}

int main(int argc, char **argv)
{
	int nothing;

	/* A file that is opened must not become stdout. */
	while ((nothing = open("/dev/null", O_RDWR)) >= 0 && nothing <= STDERR_FILENO)
		;
	close(nothing);
	if (argc < 2) {
		help();
		return STATUS_INPUT;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		help();
		return 0;
	}
	if (!strcmp(argv[1], "--version")) {
		printf("anemonectl %s (uapi %d)\n", ANEMONECTL_VERSION, ANEMONE_UAPI_VERSION);
		return 0;
	}
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(argv[1], commands[i]->name)) {
			struct options options = parse_options(commands[i], argc - 1, argv + 1);
			int status = commands[i]->run(&options);

			/* A full disk or a closed pipe is no success. */
			if (fflush(stdout) || ferror(stdout))
				fail("the output could not be written");
			return status;
		}
	bad_input("command is \"%s\"; allowed: list, add, run, map, read, watch, status, rotate, "
		  "rm, check",
		  argv[1]);
}
