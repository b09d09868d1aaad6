// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "json.h"
#include "sample.h"
#include "target.h"

#define BAR_WIDTH 24
/* Lines of the screen that are not rows, with the cursor's. */
#define OTHER_LINES 4

static volatile sig_atomic_t stopped;

static void stop(int signal_number)
{
	(void)signal_number;
	stopped = 1;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Until that time, or until Ctrl-C. */
static void wait_until(double end)
{
	while (!stopped) {
		double left = end - now();
		struct timespec time = { .tv_sec = (time_t)left };

		if (left <= 0)
			return;
		time.tv_nsec = (long)((left - (double)time.tv_sec) * 1e9);
		nanosleep(&time, NULL);
	}
}

/* --- Showing ---------------------------------------------------------------------------------- */

static void show_json(const struct telemetry *t, const struct sample *sample, double seconds,
		      uint32_t top)
{
	json_begin(NULL, '{');
	json_text("name", t->name);
	json_fraction("seconds", seconds);
	json_text("of", sample->is_turn ? "turns" : sample->is_count ? "interval" : "values");
	json_number("total", sample->total);
	json_begin("rows", '[');
	for (uint32_t i = 0; i < sample->rows && i < top; i++) {
		const struct row *row = &sample->row[i];

		json_begin(NULL, '{');
		json_number(sample->is_turn ? "key" : "region", row->region);
		if (sample->by_counter)
			json_number("offset", row->offset);
		json_number("count", row->count);
		json_fraction("share", (double)row->count / (double)sample->total);
		json_number("keys", row->keys);
		json_span(&row->span);
		json_end();
	}
	json_end();
	json_end();
}

/* A line's end; on a terminal what was there before it goes. */
static const char *end_of_line(bool redraw)
{
	return redraw ? "\033[K\n" : "\n";
}

static void show_row(const struct sample *sample, const struct row *row, bool redraw)
{
	/* Sums of what is not counted can be past the total's 64 bits; a share is not. */
	double share = sample->total ? (double)row->count / (double)sample->total : 0;
	double most = (double)sample->row[0].count;
	int bar = (int)((double)row->count / most * BAR_WIDTH + 0.5);
	char text[SPAN_TEXT];

	span_text(text, &row->span, row->keys);
	if (sample->is_turn)
		printf("%#12" PRIx64, row->region);
	else
		printf("%12" PRIu64, row->region);
	if (sample->by_counter)
		printf(" %6u", row->offset);
	printf(" %14" PRIu64 " %6.2f%%  %-*.*s  %s%s", row->count, 100 * share, BAR_WIDTH, bar,
	       "########################", text, end_of_line(redraw));
}

static void show(const struct session *session, const struct telemetry *t,
		 const struct sample *sample, double seconds, uint32_t top, bool redraw)
{
	const char *what = sample->is_turn    ? "in the keys' last turns"
			   : sample->is_count ? "counted"
					      : "is the sum of the values";
	struct winsize screen;

	if (redraw) {
		fputs("\033[H", stdout);
		if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &screen) && screen.ws_row > OTHER_LINES &&
		    top > screen.ws_row - OTHER_LINES + 0u)
			top = screen.ws_row - OTHER_LINES;
	}
	printf("%s on %s: %" PRIu64 " %s", t->name, session->path, sample->total, what);
	if (sample->is_count)
		printf(" in %.1f s", seconds);
	printf(", %u %s%s%s", sample->rows, sample->by_counter ? "counters" : "regions",
	       redraw ? "; Ctrl-C ends" : "", end_of_line(redraw));
	printf("%12s%s %14s %7s  %-*s  ADDRESSES%s", sample->is_turn ? "KEY" : "REGION",
	       sample->by_counter ? " OFFSET" : "", "COUNT", "SHARE", BAR_WIDTH, "",
	       end_of_line(redraw));
	for (uint32_t i = 0; i < sample->rows && i < top; i++)
		show_row(sample, &sample->row[i], redraw);
	fputs(redraw ? "\033[J" : "\n", stdout);
}

/* --- Watching --------------------------------------------------------------------------------- */

/* Looks again, as names and maps may have changed; false: it was removed. */
static bool look_again(const char *device, const char *name, struct session *session,
		       struct telemetry **t)
{
	struct link link;

	if (!link_open(device, false, false, session, &link))
		return false;
	link_close(&link);
	*t = find_telemetry(session, name);
	if (!*t)
		session_free(session);
	return *t;
}

/* Each interval, until Ctrl-C, the telemetry's end, or once. */
static void watch(const struct options *o, const char *device, bool redraw)
{
	AUTO_FREE uint64_t *last = NULL;
	double next = now(), before = 0;
	struct session session;
	struct telemetry *t;
	uint32_t id = 0;

	while (!stopped && look_again(device, o->words[0], &session, &t)) {
		bool first = !before || t->id != id;
		struct sample sample;
		double time = now();

		if (first) {
			free(last);
			last = NULL;
		}
		sample = take_sample(&session, t, o->counters, &last);
		/* The first look only tells where counters stand. */
		if (!first && o->json)
			show_json(t, &sample, time - before, o->top);
		else if (!first)
			show(&session, t, &sample, time - before, o->top, redraw);
		if (fflush(stdout))
			stopped = 1;
		id = t->id;
		free(sample.row);
		session_free(&session);
		if (!first && o->once)
			return;
		before = time;
		next = next + o->interval > now() ? next + o->interval : now() + o->interval;
		wait_until(next);
	}
	if (!stopped)
		note("\"%s\" was removed", o->words[0]);
}

static int run(const struct options *o)
{
	struct sigaction action = { .sa_handler = stop };
	AUTO_FREE char *device = NULL;
	struct session session;
	struct link link;
	bool redraw = isatty(STDOUT_FILENO) && !o->json && !o->once;

	open_telemetry(o, o->words[0], false, &session, &link);
	link_close(&link);
	device = strdup(session.path);
	if (!device)
		fail("out of memory");
	session_free(&session);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (redraw)
		fputs("\033[?25l\033[2J", stdout); /* no cursor, an empty screen */
	watch(o, device, redraw);
	if (redraw)
		fputs("\033[?25h", stdout);
	return 0;
}

const struct command command_watch = {
	.name = "watch",
	.summary = "the hottest regions, as they change",
	.help = "usage: anemonectl watch NAME [--interval S] [--top N] [--counters] [--once] "
		"[--json]\n"
		"\n"
		"Shows what was counted in each interval, hottest first: the count, its share of "
		"all,\n"
		"and the addresses of the region. It reads snapshots, so that others who read the\n"
		"telemetry notice nothing. On a terminal the table is redrawn in place; elsewhere\n"
		"one follows another. Ctrl-C ends it. Values of an op that does not add are shown "
		"as\n"
		"they are.\n"
		"\n"
		"  -i, --interval S  seconds (1)\n"
		"  -n, --top N       rows at most (20)\n"
		"      --counters    a row for each counter, not for each region\n"
		"      --once        one interval\n"
		"  -d, --device D    where several devices have a telemetry of this name\n"
		"  -j, --json        for programs: an object on a line for each interval\n",
	.options = OPTION_INTERVAL | OPTION_TOP | OPTION_COUNTERS | OPTION_ONCE | OPTION_DEVICE |
		   OPTION_JSON,
	.least = 1,
	.most = 1,
	.run = run,
};
