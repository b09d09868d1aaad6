// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>

#include "json.h"
#include "numbers.h"
#include "target.h"

/* A region of the telemetry's. `what`: of which argument or line. */
static uint32_t region(const struct telemetry *t, const char *what, uint64_t number)
{
	if (number >= t->regions)
		bad_input("%s is %llu; allowed: a region of 0 to %u of \"%s\"", what,
			  (unsigned long long)number, t->regions - 1, t->name);
	return (uint32_t)number;
}

static struct anemone_entry *from_file(const struct options *o, const struct telemetry *t,
				       uint32_t *count)
{
	static const char *const names[] = { "key", "region" };
	/* To unmap, a line needs no region. */
	unsigned int columns = o->unmap ? 1 : 2;
	struct anemone_entry *entries;
	size_t rows;
	AUTO_FREE uint64_t *numbers = read_numbers(o->file, columns, names, &rows);

	entries = zeroed(rows, sizeof(*entries));
	for (size_t i = 0; i < rows; i++) {
		entries[i].key = numbers[i * columns];
		if (!o->unmap)
			entries[i].region = region(t, o->file, numbers[i * columns + 1]);
	}
	*count = (uint32_t)rows;
	return entries;
}

static struct anemone_entry *from_words(const struct options *o, const struct telemetry *t)
{
	struct anemone_entry *entry = zeroed(1, sizeof(*entry));

	entry->key = parse_number("KEY", o->words[1], 0, UINT64_MAX);
	if (!o->unmap)
		entry->region =
			region(t, "REGION", parse_number("REGION", o->words[2], 0, UINT64_MAX));
	return entry;
}

static int run(const struct options *o)
{
	AUTO_FREE struct anemone_entry *entries = NULL;
	int wanted = o->file ? 1 : o->unmap ? 2 : 3;
	struct session session;
	struct telemetry *t;
	uint32_t count = 1;
	struct link link;

	if (o->count != wanted)
		bad_input("map: %d words; allowed: NAME KEY REGION, NAME --unmap KEY, NAME -f FILE",
			  o->count);
	t = open_telemetry(o, o->words[0], true, &session, &link);
	if (t->turning)
		bad_input("map: \"%s\" is rotated; allowed: one that is not (`anemonectl rotate %s "
			  "--stop`)",
			  t->name, t->name);
	entries = o->file ? from_file(o, t, &count) : from_words(o, t);
	for (uint32_t i = 0; o->unmap && i < count; i++)
		entries[i].flags = ANEMONE_ENTRY_UNMAP;
	telemetry_map(&session, t, entries, count);
	link_put(&link, t);
	link_close(&link);
	if (o->json) {
		json_begin(NULL, '{');
		json_text("name", t->name);
		json_number(o->unmap ? "unmapped" : "set", count);
		json_number("mapped", t->mapped);
		json_end();
	} else {
		printf("%s: %u key%s %s, %u mapped\n", t->name, count, count == 1 ? "" : "s",
		       o->unmap ? "unmapped" : "set", t->mapped);
	}
	session_free(&session);
	return 0;
}

const struct command command_map = {
	.name = "map",
	.summary = "choose the region of counters that a key's accesses go to",
	.help = "usage: anemonectl map NAME KEY REGION | NAME --unmap KEY | NAME -f FILE\n"
		"\n"
		"An access's key is (address & primary.mask) >> primary.shift; a 2 MiB page's "
		"with\n"
		"shift 21, say. A key that is mapped is counted in its region, one that is not "
		"only\n"
		"as unmapped (`anemonectl status`). Several keys may share a region. A file's\n"
		"entries are set all or none.\n"
		"\n"
		"  -f, --file F    lines \"KEY REGION\", or \"KEY\" with --unmap; # begins a "
		"comment;\n"
		"                  - for stdin\n"
		"      --unmap     forget the keys\n"
		"  -d, --device D  where several devices have a telemetry of this name\n"
		"  -j, --json      for programs\n"
		"\n"
		"example:  anemonectl map skew 0x323 1\n",
	.options = OPTION_FILE | OPTION_UNMAP | OPTION_DEVICE | OPTION_JSON,
	.least = 1,
	.most = 3,
	.run = run,
};
