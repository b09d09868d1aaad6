/* SPDX-License-Identifier: GPL-2.0 */
/* Codes of the uapi and what rule files call them. */
#ifndef ANEMONECTL_NAMES_H
#define ANEMONECTL_NAMES_H

#include "rules.h"

struct name {
	const char *name;
	unsigned int code;
	uint64_t feature; /* of register `features`: all of these are there; 0: always */
};

/* Each list ends with a NULL name. */
extern const struct name type_names[], near_names[], op_names[], source_names[], predicate_names[],
	effect_names[], width_names[];

#endif
