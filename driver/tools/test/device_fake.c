// SPDX-License-Identifier: GPL-2.0
/* device.h for tests: anemone(4)'s contract, on files anemone0, ... in $ANEMONE_FAKE. */
#include "device.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "fake_store.h"

unsigned int device_paths(char ***paths)
{
	const char *folder = getenv("ANEMONE_FAKE");
	char pattern[4096];
	glob_t found = { 0 };
	unsigned int count = 0;

	snprintf(pattern, sizeof(pattern), "%s/anemone[0-9]*", folder ? folder : "/nowhere");
	*paths = NULL;
	if (!glob(pattern, 0, NULL, &found)) {
		*paths = zeroed(found.gl_pathc, sizeof(**paths));
		for (; count < found.gl_pathc; count++)
			(*paths)[count] = strdup(found.gl_pathv[count]);
	}
	globfree(&found);
	return count;
}

int device_open(const char *path)
{
	struct fake_device *device;
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct flock life = { .l_type = F_WRLCK, .l_len = 1 };

	if (fd < 0 || !fake_enter(fd, &device))
		return -1;
	/* Past all contents, so that no lock of theirs is in the way. */
	if (device->last_owner < sizeof(*device))
		device->last_owner = sizeof(*device);
	device->last_owner++;
	life.l_start = lseek(fd, (off_t)device->last_owner, SEEK_SET);
	fake_leave(fd, device);
	return fcntl(fd, F_OFD_SETLK, &life) ? -1 : fd;
}

/* --- Calls ------------------------------------------------------------------------------------ */

static int wrong(int error)
{
	errno = error;
	return -1;
}

static int info(struct fake_device *device, struct anemone_info *info)
{
	*info = (struct anemone_info){
		.size = sizeof(*info),
		.uapi = ANEMONE_UAPI_VERSION,
		.version = 1 << 16,
		.flags = ANEMONE_INFO_INTERRUPTS | (device->flat ? ANEMONE_INFO_FLAT : 0),
		.pipelines = FAKE_PIPELINES,
		.pipelines_free = FAKE_PIPELINES,
		.channels = FAKE_CHANNELS,
		.states = FAKE_STATES,
		.table = FAKE_TABLE,
		.address_bits = FAKE_ADDRESS_BITS,
		.features = UINT64_MAX,
		.host_base = 0x1000000000,
		.host_size = 1ULL << FAKE_ADDRESS_BITS,
		.device = "0000:01:00.0",
	};
	for (int i = 0; i < FAKE_TELEMETRIES; i++)
		if (device->telemetry[i].owner)
			info->pipelines_free -= device->telemetry[i].pipelines;
	return 0;
}

static bool good(const struct anemone_spec *s)
{
	static const uint8_t zero[sizeof(s->reserved)];

	for (size_t i = 0; i < sizeof(s->name) && s->name[i]; i++)
		if (s->name[i] < ' ' || s->name[i] > '~')
			return false;
	return s->name[0] && !s->name[sizeof(s->name) - 1] && s->filter.type >= 1 &&
	       s->filter.type <= 3 && !memcmp(s->pad, zero, 7) && !memcmp(s->filter.pad, zero, 6) &&
	       !memcmp(s->reserved, zero, sizeof(s->reserved)) && !s->flags &&
	       !s->translation.primary.pad && !s->translation.sub.pad &&
	       s->translation.primary.shift < 64 && s->translation.sub.shift < 64 &&
	       !memcmp(s->update.pad, zero, 6) && !memcmp(s->notify.pad, zero, 6) &&
	       !memcmp(s->read_effect.pad, zero, 6) && s->update.op >= ANEMONE_OP_ADD &&
	       s->update.op <= ANEMONE_OP_ADDSAT && s->notify.op <= ANEMONE_NOTIFY_LE;
}

static int add(struct fake_device *device, uint64_t self, struct anemone_add *call)
{
	uint64_t all = (1ULL << FAKE_ADDRESS_BITS) - 1, counters = 1;
	uint64_t last = (call->spec.translation.sub.mask & all) >> call->spec.translation.sub.shift;
	unsigned int width = call->spec.width ? call->spec.width : 64, place = 0;
	uint64_t one = (uint64_t)FAKE_STATES * 64 / width;
	struct anemone_info now;

	if (!good(&call->spec))
		return wrong(EINVAL);
	while (counters <= last && counters <= one)
		counters *= 2;
	if (counters > one) {
		snprintf(call->reason, sizeof(call->reason), "a region is larger than a pipeline");
		return wrong(ENOSPC);
	}
	call->region_counters = (uint32_t)counters;
	call->regions = call->spec.regions ? call->spec.regions : (uint32_t)(one / counters);
	call->pipelines = (uint32_t)((call->regions * counters + one - 1) / one);
	call->granule = 8 * 64 / width;
	info(device, &now);
	if (call->pipelines > now.pipelines_free) {
		snprintf(call->reason, sizeof(call->reason), "%u pipelines wanted, %u free",
			 call->pipelines, now.pipelines_free);
		return wrong(ENOSPC);
	}
	while (place < FAKE_TELEMETRIES && device->telemetry[place].owner)
		place++;
	if (place == FAKE_TELEMETRIES || call->pipelines > 1)
		return wrong(ENOSPC);
	call->id = ++device->last_id;
	device->telemetry[place] = (struct fake_telemetry){
		.owner = self,
		.id = call->id,
		.spec = call->spec,
		.regions = call->regions,
		.region_counters = call->region_counters,
		.pipelines = call->pipelines,
	};
	return 0;
}

/* As the driver has it: a key of which the filter lets no address pass is a mistake. */
static bool reached(const struct fake_telemetry *t, uint64_t key)
{
	unsigned int shift = t->spec.translation.primary.shift;

	if (key >= FAKE_TABLE)
		return false;
	return t->spec.translation.primary.mask >> shift != UINT64_MAX >> shift ||
	       (key << shift < t->spec.filter.end &&
		(key << shift) + (1ULL << shift) > t->spec.filter.start);
}

static int map(struct fake_telemetry *t, struct anemone_map *call)
{
	const struct anemone_entry *entries = (const void *)(uintptr_t)call->entries;

	for (call->done = 0; call->done < call->count; call->done++) {
		const struct anemone_entry *e = &entries[call->done];
		bool unmap = e->flags & ANEMONE_ENTRY_UNMAP;

		if (!reached(t, e->key) || (!unmap && e->region >= t->regions))
			return wrong(ERANGE);
		if (unmap && !t->region_of[e->key])
			return wrong(ENOENT);
		t->status.mapped -= t->region_of[e->key] != 0;
		t->region_of[e->key] = unmap ? 0 : e->region + 1;
		t->status.mapped += !unmap;
	}
	return 0;
}

static int read_counters(struct fake_telemetry *t, const struct anemone_read *call)
{
	uint64_t *to = (void *)(uintptr_t)call->values;
	uint32_t all = t->regions * t->region_counters;
	unsigned int width = t->spec.width ? t->spec.width : 64;
	bool effect = !(call->flags & ANEMONE_READ_SNAPSHOT);
	uint32_t line = 8 * 64 / width, end = call->first + call->count;

	if (call->pad || end > all || call->flags & ~3u)
		return wrong(EINVAL);
	if (effect && (call->first % line || (end % line && end != all)))
		return wrong(EINVAL);
	for (uint32_t i = call->first; i < end; i++) {
		uint64_t folded = 0;

		for (int c = 0; c < FAKE_CHANNELS; c++) {
			uint64_t *value = &t->value[c][i];

			if (call->flags & ANEMONE_READ_CHANNELS)
				*to++ = *value;
			folded += *value;
			if (effect && t->spec.read_effect.op == ANEMONE_OP_RESET)
				*value = t->spec.read_effect.operand;
		}
		if (!(call->flags & ANEMONE_READ_CHANNELS))
			*to++ = folded;
	}
	return 0;
}

static int rotate(struct fake_telemetry *t, struct anemone_rotate *call)
{
	if (call->count && (t->keys || t->status.mapped))
		return wrong(EBUSY);
	if (call->count > FAKE_KEYS || t->region_counters > FAKE_TURN_COUNTERS)
		return wrong(E2BIG);
	if (call->count && (call->period_ms < 1 || call->period_ms > 60000))
		return wrong(EINVAL);
	if (call->count)
		memcpy(t->key, (void *)(uintptr_t)call->keys, call->count * sizeof(*t->key));
	memset(t->turn, 0, sizeof(t->turn));
	t->keys = call->count;
	call->sweep_ns = (call->count + t->regions - 1) / t->regions * 1000000ULL * call->period_ms;
	return 0;
}

static int turn(struct fake_device *device, struct fake_telemetry *t, struct anemone_turn *call)
{
	if (call->index >= t->keys || call->count > t->region_counters)
		return wrong(EINVAL);
	call->turns = device->turns;
	call->start_ns = 1000000000;
	call->end_ns = 1500000000;
	if (call->turns)
		memcpy((void *)(uintptr_t)call->values, t->turn[call->index],
		       call->count * sizeof(uint64_t));
	return 0;
}

static int of_telemetry(struct fake_device *device, struct fake_telemetry *t, unsigned long request,
			void *argument)
{
	struct anemone_status status;

	switch (request) {
	case ANEMONE_REMOVE:
		memset(t, 0, sizeof(*t));
		return 0;
	case ANEMONE_MAP:
		return map(t, argument);
	case ANEMONE_READ:
		return read_counters(t, argument);
	case ANEMONE_STATUS:
		status = t->status;
		status.size = sizeof(status);
		status.id = t->id;
		memcpy(argument, &status, sizeof(status));
		return 0;
	case ANEMONE_ROTATE:
		return rotate(t, argument);
	case ANEMONE_TURN:
		return turn(device, t, argument);
	default:
		return wrong(ENOTTY);
	}
}

static int call(struct fake_device *device, uint64_t self, unsigned long request, uint32_t *head)
{
	/* Every structure begins with its size, then id; the call's number holds the first size. */
	if (head[0] < _IOC_SIZE(request))
		return wrong(EINVAL);
	if (request == ANEMONE_INFO)
		return info(device, (void *)head);
	if (request == ANEMONE_ADD)
		return add(device, self, (void *)head);
	for (int i = 0; i < FAKE_TELEMETRIES; i++)
		if (device->telemetry[i].owner == self && device->telemetry[i].id == head[1])
			return of_telemetry(device, &device->telemetry[i], request, head);
	return wrong(ENOENT);
}

int device_ioctl(int fd, unsigned long request, void *argument)
{
	struct fake_device *device;
	int result;

	if (!fake_enter(fd, &device))
		return -1;
	result = call(device, (uint64_t)lseek(fd, 0, SEEK_CUR), request, argument);
	fake_leave(fd, device);
	return result;
}
