/* SPDX-License-Identifier: GPL-2.0 */
/* What several commands print. */
#ifndef ANEMONECTL_SHOW_H
#define ANEMONECTL_SHOW_H

#include "telemetry.h"

/* What rules may ask of a device that can be opened. */
struct limits device_limits(const char *path);
/* The members of a telemetry's object. */
void json_telemetry(const struct telemetry *telemetry);
void show_added(const struct session *session, const struct telemetry *telemetry, uint32_t count,
		bool json);

/* How counters are shown. */
struct reading {
	bool snapshot, channels, all, json;
};

/* Reads and shows a telemetry: counters that are not zero, or the turns of one that is rotated. */
void show_counters(const struct session *session, const struct telemetry *telemetry,
		   const struct reading *reading);

#endif
