/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Telemetries of an open device. The kernel knows them by id and keeps no names longer than a log
 * line and no list of what is mapped; both are kept here, and by the holder (holder.h).
 */
#ifndef ANEMONECTL_TELEMETRY_H
#define ANEMONECTL_TELEMETRY_H

#include "rules.h"

struct telemetry {
	char name[NAME_SIZE];
	uint32_t id;
	uint32_t regions, region_counters, pipelines, granule;
	uint32_t mapped;  /* entries of `map` */
	uint32_t turning; /* keys of `turns`; 0: it is not rotated */
	uint32_t period_ms;
	struct anemone_spec spec;
	struct anemone_entry *map; /* by key */
	uint64_t *turns;
};

/* A device that is open, and the telemetries on that descriptor. */
struct session {
	char *path;
	int fd;
	struct anemone_info info;
	struct telemetry *telemetry;
	uint32_t count;
};

void session_free(struct session *session);
/* What the device is; false: errno. */
bool device_info(int fd, struct anemone_info *info);
struct limits limits_of(const struct anemone_info *info);

/* In two steps, for the holder to know it in between. Each ends the program when it is refused. */
void telemetry_add(const struct session *session, const struct rule *rule, struct telemetry *added);
void telemetry_map_rule(struct session *session, const struct rule *rule, struct telemetry *added);
void telemetry_free(struct telemetry *telemetry);
/* Sets (or with ANEMONE_ENTRY_UNMAP clears) entries, in the kernel and in `map`: all or none. */
void telemetry_map(struct session *session, struct telemetry *telemetry,
		   const struct anemone_entry *entries, uint32_t count);
/* What was mapped or took turns before does not any more. count = 0: the end of all turns. */
void telemetry_rotate(struct session *session, struct telemetry *telemetry, const uint64_t *keys,
		      uint32_t count, uint32_t period_ms, uint64_t *sweep_ns);
struct anemone_status telemetry_status(const struct session *session,
				       const struct telemetry *telemetry);

/* Counters of all regions: as a product, which fits 32 bits as the kernel's indices do. */
uint32_t telemetry_counters(const struct telemetry *telemetry);
/* All counters, `channels` values for each with ANEMONE_READ_CHANNELS. Free them. */
uint64_t *telemetry_read(const struct session *session, const struct telemetry *telemetry,
			 uint32_t flags);
/* Of the index-th key of a rotation; false: it has had no turn yet. */
bool telemetry_turn(const struct session *session, const struct telemetry *telemetry,
		    uint32_t index, struct anemone_turn *turn, uint64_t *values);

#endif
