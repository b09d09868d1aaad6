/* SPDX-License-Identifier: GPL-2.0 */
/* Which device, and which telemetry of its holder, a command is about. */
#ifndef ANEMONECTL_TARGET_H
#define ANEMONECTL_TARGET_H

#include "holder.h"
#include "options.h"

/* The path of --device (a path, "anemone0" or "0"), or of the only device there is. Free it. */
char *chosen_device(const struct options *options);
/* The telemetry of this name on --device, or on whichever device has it, or the program's end. */
struct telemetry *open_telemetry(const struct options *options, const char *name, bool change,
				 struct session *session, struct link *link);
struct telemetry *find_telemetry(const struct session *session, const char *name);

#endif
