/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A device for tests is a file that all who open it map; what a kernel keeps by open file is found
 * by the file's position, which open files that were passed to another process share, and lives as
 * long as a lock on that byte.
 */
#ifndef ANEMONECTL_FAKE_STORE_H
#define ANEMONECTL_FAKE_STORE_H

#include <linux/anemone.h>
#include <stdbool.h>
#include <stdint.h>

#define FAKE_MAGIC 0x656b6166
#define FAKE_TELEMETRIES 8
#define FAKE_CHANNELS 2
#define FAKE_STATES 1024
#define FAKE_TABLE 512
#define FAKE_PIPELINES 4
#define FAKE_ADDRESS_BITS 30
#define FAKE_COUNTERS (FAKE_STATES * 8)
#define FAKE_KEYS 64
#define FAKE_TURN_COUNTERS 512

struct fake_telemetry {
	uint64_t owner; /* 0: this place is free */
	uint32_t id, regions, region_counters, pipelines, keys;
	struct anemone_spec spec;
	struct anemone_status status;
	uint32_t region_of[FAKE_TABLE]; /* 0: not mapped; else region + 1 */
	uint64_t value[FAKE_CHANNELS][FAKE_COUNTERS];
	uint64_t key[FAKE_KEYS];
	uint64_t turn[FAKE_KEYS][FAKE_TURN_COUNTERS];
};

struct fake_device {
	uint32_t magic, flat, last_id, turns;
	uint64_t last_owner;
	struct fake_telemetry telemetry[FAKE_TELEMETRIES];
};

/* The device in a file that is open, locked against others; false: errno. */
bool fake_enter(int fd, struct fake_device **device);
void fake_leave(int fd, struct fake_device *device);

#endif
