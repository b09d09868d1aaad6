// SPDX-License-Identifier: GPL-2.0
#include "telemetry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <anemone_regs.h>

#include "device.h"

/* Counters of one read: its values fit memory, and no call holds the device for long. */
#define READ_AT_ONCE (1u << 15)

void telemetry_free(struct telemetry *telemetry)
{
	free(telemetry->map);
	free(telemetry->turns);
}

void session_free(struct session *session)
{
	for (uint32_t i = 0; i < session->count; i++)
		telemetry_free(&session->telemetry[i]);
	free(session->telemetry);
	free(session->path);
	if (session->fd >= 0)
		close(session->fd);
}

bool device_info(int fd, struct anemone_info *info)
{
	*info = (struct anemone_info){ .size = sizeof(*info) };
	return !device_ioctl(fd, ANEMONE_INFO, info);
}

struct limits limits_of(const struct anemone_info *info)
{
	return (struct limits){
		.pipelines = info->pipelines,
		.states = info->states,
		.table = info->table,
		.bytes = info->address_bits < 64 ? 1ULL << info->address_bits : UINT64_MAX,
		.features = info->features,
		.flat = info->flags & ANEMONE_INFO_FLAT,
	};
}

/* errno in words, with what it means here. */
static const char *why(void)
{
	switch (errno) {
	case EPERM:
	case EACCES:
		return "permission denied: to count is CAP_PERFMON's, to map physical addresses "
		       "CAP_SYS_ADMIN's (see anemone(4))";
	case EIO:
		return "the device was given up by its driver (see the kernel's log)";
	case ENODEV:
		return "the device is gone";
	case ENOENT:
		return "the telemetry is gone";
	case EBUSY:
		return "it takes turns, or the device is asleep";
	default:
		return strerror(errno);
	}
}

/* --- Keys and regions ------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
	const struct anemone_entry *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

static struct anemone_entry *mapped(const struct telemetry *telemetry, uint64_t key)
{
	const struct anemone_entry wanted = { .key = key };

	if (!telemetry->mapped)
		return NULL;
	return bsearch(&wanted, telemetry->map, telemetry->mapped, sizeof(wanted), by_key);
}

static void remember(struct telemetry *telemetry, const struct anemone_entry *entry)
{
	struct anemone_entry *there = mapped(telemetry, entry->key);
	uint32_t index;

	if (entry->flags & ANEMONE_ENTRY_UNMAP) {
		if (there) {
			index = (uint32_t)(there - telemetry->map);
			memmove(there, there + 1, (--telemetry->mapped - index) * sizeof(*there));
		}
		return;
	}
	if (there) {
		*there = *entry;
		return;
	}
	telemetry->map = resize(telemetry->map, telemetry->mapped + 1, sizeof(*entry));
	for (index = telemetry->mapped; index && telemetry->map[index - 1].key > entry->key;
	     index--)
		telemetry->map[index] = telemetry->map[index - 1];
	telemetry->map[index] = *entry;
	telemetry->mapped++;
}

/* After a failed call: the first `count` entries as they were before. */
static void undo(struct session *session, const struct telemetry *telemetry,
		 const struct anemone_entry *entries, uint32_t count)
{
	AUTO_FREE struct anemone_entry *old = zeroed(count, sizeof(*old));
	struct anemone_map call = {
		.size = sizeof(call),
		.id = telemetry->id,
		.entries = (uintptr_t)old,
		.count = count,
	};

	for (uint32_t i = 0; i < count; i++) {
		const struct anemone_entry *was = mapped(telemetry, entries[i].key);

		old[i] = (struct anemone_entry){ .key = entries[i].key,
						 .flags = ANEMONE_ENTRY_UNMAP };
		if (was)
			old[i] = *was;
	}
	/* Nothing can be done about a second failure; the first one is said. */
	(void)!device_ioctl(session->fd, ANEMONE_MAP, &call);
}

void telemetry_map(struct session *session, struct telemetry *telemetry,
		   const struct anemone_entry *entries, uint32_t count)
{
	struct anemone_map call = {
		.size = sizeof(call),
		.id = telemetry->id,
		.entries = (uintptr_t)entries,
		.count = count,
	};

	if (!count)
		return;
	if (device_ioctl(session->fd, ANEMONE_MAP, &call)) {
		uint32_t done = call.done < count ? call.done : 0;
		const struct anemone_entry *entry = &entries[done];
		int error = errno;

		undo(session, telemetry, entries, done);
		if (error == ENOENT && entry->flags & ANEMONE_ENTRY_UNMAP)
			fail("%s: \"%s\": key 0x%llx is not mapped", session->path, telemetry->name,
			     (unsigned long long)entry->key);
		if (error == ERANGE)
			fail("%s: \"%s\": key 0x%llx is past the table's %u, or no address of it "
			     "passes the rule's range",
			     session->path, telemetry->name, (unsigned long long)entry->key,
			     session->info.table);
		errno = error;
		fail("%s: \"%s\": key 0x%llx to region %u: %s", session->path, telemetry->name,
		     (unsigned long long)entry->key, entry->region, why());
	}
	for (uint32_t i = 0; i < count; i++)
		remember(telemetry, &entries[i]);
}

/* --- Adding ----------------------------------------------------------------------------------- */

void telemetry_add(const struct session *session, const struct rule *rule, struct telemetry *added)
{
	struct anemone_add call = { .size = sizeof(call), .spec = rule->spec };

	if (device_ioctl(session->fd, ANEMONE_ADD, &call)) {
		call.reason[sizeof(call.reason) - 1] = 0;
		fail("%s: rule \"%s\" was refused: %s%s%s", session->path, rule->name, why(),
		     *call.reason ? ": " : "", call.reason);
	}
	*added = (struct telemetry){
		.id = call.id,
		.regions = call.regions,
		.region_counters = call.region_counters,
		.pipelines = call.pipelines,
		.granule = call.granule,
		.spec = rule->spec,
	};
	memcpy(added->name, rule->name, sizeof(added->name));
}

void telemetry_map_rule(struct session *session, const struct rule *rule, struct telemetry *added)
{
	uint32_t table = session->info.table;
	uint32_t identity = added->regions < table ? added->regions : table;
	uint32_t given = rule->identity ? identity : rule->mapped, count = 0;
	AUTO_FREE struct anemone_entry *entries = zeroed(given, sizeof(*entries));

	/* Keys that can never be counted do no harm in a replay; the driver refuses them. */
	for (uint32_t i = 0; i < given; i++) {
		entries[count] = (struct anemone_entry){ .key = i, .region = i };
		if (!rule->identity)
			entries[count] = rule->map[i];
		count += reaches(&rule->spec, entries[count].key);
	}
	if (count < given && !rule->identity)
		note("rule \"%s\": %u keys of the map are left out: no address of theirs is in the "
		     "range",
		     rule->name, given - count);
	telemetry_map(session, added, entries, count);
}

/* The driver maps the keys of turns itself, and wants none mapped before. */
static void make_way(struct session *session, struct telemetry *telemetry)
{
	AUTO_FREE struct anemone_entry *entries = zeroed(telemetry->mapped, sizeof(*entries));
	uint64_t sweep_ns;
	uint32_t count = telemetry->mapped;

	if (telemetry->turning)
		telemetry_rotate(session, telemetry, NULL, 0, 0, &sweep_ns);
	for (uint32_t i = 0; i < count; i++) {
		entries[i] = telemetry->map[i];
		entries[i].flags |= ANEMONE_ENTRY_UNMAP;
	}
	telemetry_map(session, telemetry, entries, count);
}

void telemetry_rotate(struct session *session, struct telemetry *telemetry, const uint64_t *keys,
		      uint32_t count, uint32_t period_ms, uint64_t *sweep_ns)
{
	struct anemone_rotate call = {
		.size = sizeof(call),
		.id = telemetry->id,
		.keys = (uintptr_t)keys,
		.count = count,
		.period_ms = period_ms,
	};

	if (count)
		make_way(session, telemetry);
	if (device_ioctl(session->fd, ANEMONE_ROTATE, &call))
		fail("%s: \"%s\": rotation of %u keys: %s", session->path, telemetry->name, count,
		     why());
	*sweep_ns = call.sweep_ns;
	telemetry->turns = resize(telemetry->turns, count, sizeof(*keys));
	if (count)
		memcpy(telemetry->turns, keys, count * sizeof(*keys));
	telemetry->turning = count;
	telemetry->period_ms = count ? period_ms : 0;
}

/* --- Reading ---------------------------------------------------------------------------------- */

struct anemone_status telemetry_status(const struct session *session,
				       const struct telemetry *telemetry)
{
	struct anemone_status status = { .size = sizeof(status), .id = telemetry->id };

	if (device_ioctl(session->fd, ANEMONE_STATUS, &status))
		fail("%s: \"%s\": status: %s", session->path, telemetry->name, why());
	return status;
}

uint32_t telemetry_counters(const struct telemetry *telemetry)
{
	return telemetry->regions * telemetry->region_counters;
}

uint64_t *telemetry_read(const struct session *session, const struct telemetry *telemetry,
			 uint32_t flags)
{
	uint32_t all = telemetry_counters(telemetry), granule = telemetry->granule;
	uint32_t step = granule && granule < READ_AT_ONCE ? READ_AT_ONCE - READ_AT_ONCE % granule
							  : READ_AT_ONCE;
	uint32_t each = flags & ANEMONE_READ_CHANNELS ? session->info.channels : 1;
	uint64_t *values = zeroed((size_t)all * each, sizeof(*values));

	for (uint32_t first = 0; first < all; first += step) {
		struct anemone_read call = {
			.size = sizeof(call),
			.id = telemetry->id,
			.flags = flags,
			.first = first,
			.count = all - first < step ? all - first : step,
			.values = (uintptr_t)(values + (size_t)first * each),
		};

		if (device_ioctl(session->fd, ANEMONE_READ, &call))
			fail("%s: \"%s\": reading counters from %u on: %s", session->path,
			     telemetry->name, first, why());
	}
	return values;
}

bool telemetry_turn(const struct session *session, const struct telemetry *telemetry,
		    uint32_t index, struct anemone_turn *turn, uint64_t *values)
{
	*turn = (struct anemone_turn){
		.size = sizeof(*turn),
		.id = telemetry->id,
		.index = index,
		.count = telemetry->region_counters,
		.values = (uintptr_t)values,
	};
	if (device_ioctl(session->fd, ANEMONE_TURN, turn))
		fail("%s: \"%s\": turn of key 0x%llx: %s", session->path, telemetry->name,
		     (unsigned long long)telemetry->turns[index], why());
	return turn->turns;
}
