// SPDX-License-Identifier: GPL-2.0
/*
 * Makes a device for tests, and accesses to its memory.
 *   fake-access DEVICE new|new-flat
 *   fake-access DEVICE R|W ADDRESS TIMES    accesses that all rules see; ops are add and or
 *   fake-access DEVICE turn                 every key of a rotation has had a turn more
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "fake_store.h"

static void count(struct fake_telemetry *t, uint64_t address, uint64_t times)
{
	const struct anemone_spec *s = &t->spec;
	uint64_t key = (address & s->translation.primary.mask) >> s->translation.primary.shift;
	uint64_t offset = (address & s->translation.sub.mask) >> s->translation.sub.shift;
	unsigned int width = s->width ? s->width : 64;
	uint64_t all = width < 64 ? (1ULL << width) - 1 : UINT64_MAX;
	uint64_t *value;

	for (uint32_t i = 0; i < t->keys; i++)
		if (t->key[i] == key)
			t->turn[i][offset] += times;
	if (t->keys)
		return;
	if (key >= FAKE_TABLE || !t->region_of[key]) {
		t->status.unmapped += times;
		return;
	}
	value = &t->value[address >> 6 & 1][(t->region_of[key] - 1) * t->region_counters + offset];
	*value = (s->update.op == ANEMONE_OP_OR ? *value | s->update.operand
						: *value + times * s->update.operand) &
		 all;
	t->status.matched += times;
}

static void access_all(struct fake_device *device, bool write, uint64_t address, uint64_t times)
{
	for (int i = 0; i < FAKE_TELEMETRIES; i++) {
		struct fake_telemetry *t = &device->telemetry[i];
		const struct anemone_spec *s = &t->spec;

		if (t->owner && s->filter.type & (write ? ANEMONE_W : ANEMONE_R) &&
		    ((!s->filter.start && !s->filter.end) ||
		     (address >= s->filter.start && address < s->filter.end)))
			count(t, address, times);
	}
}

int main(int argc, char **argv)
{
	struct fake_device *device;
	bool new = argc == 3 && !strncmp(argv[2], "new", 3);
	int fd = argc > 2 ? open(argv[1], O_RDWR | (new ? O_CREAT : 0), 0600) : -1;

	if (fd < 0 || (new && ftruncate(fd, sizeof(*device))) || !fake_enter(fd, &device))
		fail("%s: %s", argc > 1 ? argv[1] : "DEVICE", strerror(errno));
	if (new) {
		device->magic = FAKE_MAGIC;
		device->flat = !strcmp(argv[2], "new-flat");
	} else if (!strcmp(argv[2], "turn")) {
		device->turns++;
	} else if (argc == 5) {
		access_all(device, *argv[2] == 'W', strtoull(argv[3], NULL, 0),
			   strtoull(argv[4], NULL, 0));
	} else {
		bad_input("DEVICE new|new-flat|turn, or DEVICE R|W ADDRESS TIMES");
	}
	fake_leave(fd, device);
	return 0;
}
