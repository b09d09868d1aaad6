// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"
#include "json.h"
#include "show.h"
#include "target.h"

static pid_t child;

/* Who ends us means the command; its counters are still read. */
static void pass_on(int signal_number)
{
	kill(child, signal_number);
}

/* Runs the command to its end and returns its status, as a shell has it. */
static int run_command(char **words)
{
	struct sigaction passed = { .sa_handler = pass_on };
	int status;

	fflush(NULL);
	child = fork();
	if (child < 0)
		fail("fork: %s", strerror(errno));
	if (!child) {
		execvp(words[0], words);
		note("%s: %s", words[0], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	/* The terminal's own go to the command as well. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	sigaction(SIGTERM, &passed, NULL);
	sigaction(SIGHUP, &passed, NULL);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			fail("wait: %s", strerror(errno));
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void show_all(const struct session *session, const struct options *o)
{
	const struct reading reading = { .all = o->all, .channels = o->channels, .json = o->json };

	if (o->json)
		json_begin(NULL, '[');
	for (uint32_t i = 0; i < session->count; i++) {
		const struct telemetry *t = &session->telemetry[i];
		struct anemone_status status = telemetry_status(session, t);

		if (!o->json)
			printf("\n%s: %llu matched, %llu unmapped, %llu out of range\n", t->name,
			       (unsigned long long)status.matched,
			       (unsigned long long)status.unmapped,
			       (unsigned long long)status.out_of_range);
		show_counters(session, t, &reading);
	}
	if (o->json)
		json_end();
}

static int run(const struct options *o)
{
	struct session session = { .fd = -1 };
	struct limits limits;
	struct rules rules;
	int status;

	if (!o->file)
		bad_input("run: --file is missing; allowed: a rule file (docs/rules.md)");
	session.path = chosen_device(o);
	limits = device_limits(session.path);
	rules = read_rules(o->file, &limits);
	session.fd = device_open(session.path);
	if (session.fd < 0 || !device_info(session.fd, &session.info))
		fail("%s: %s", session.path, strerror(errno));
	session.telemetry = zeroed(rules.count, sizeof(*session.telemetry));
	for (; session.count < rules.count; session.count++) {
		telemetry_add(&session, &rules.rule[session.count],
			      &session.telemetry[session.count]);
		telemetry_map_rule(&session, &rules.rule[session.count],
				   &session.telemetry[session.count]);
	}
	status = run_command(o->words);
	if (o->output && !freopen(o->output, "w", stdout))
		fail("%s: %s", o->output, strerror(errno));
	show_all(&session, o);
	session_free(&session);
	free_rules(&rules);
	return status;
}

const struct command command_run = {
	.name = "run",
	.summary = "count while a command runs, then print the counters",
	.help = "usage: anemonectl run -f RULES.toml [-o FILE] [--json] -- COMMAND [WORD...]\n"
		"\n"
		"Adds the rules of the file, runs the command, reads the counters when it has "
		"ended,\n"
		"and removes the rules. What other programs do in the device's memory is counted,\n"
		"too. The exit status is the command's.\n"
		"\n"
		"  -f, --file F    the rules (docs/rules.md)\n"
		"  -o, --output F  the counters go to a file, not between the command's output\n"
		"      --channels  a value for each memory channel, instead of the whole\n"
		"  -a, --all       counters that are zero, too\n"
		"  -d, --device D  not needed where there is only one\n"
		"  -j, --json      for programs: a list with an object for each rule\n"
		"\n"
		"example:  anemonectl run -f skew.toml -- numactl --membind=1 ./server\n",
	.options = OPTION_FILE | OPTION_OUTPUT | OPTION_CHANNELS | OPTION_ALL | OPTION_DEVICE |
		   OPTION_JSON,
	.least = 1,
	.most = -1,
	.run = run,
};
