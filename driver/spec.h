/* SPDX-License-Identifier: GPL-2.0 */
/* What a caller asks for, looked at and put into the terms of one controller. */
#ifndef ANEMONE_SPEC_H
#define ANEMONE_SPEC_H

#include "hw.h"
#include "memory.h"
#include "include/uapi/linux/anemone.h"

struct anemone_plan {
	struct anemone_rule rule;
	unsigned int width;	      /* bits of a counter */
	unsigned int region_counters; /* a power of two */
	unsigned int counters;	      /* of a pipeline on a channel */
	unsigned int granule;	      /* counters of a line */
	unsigned int regions;	      /* wanted; 0: as many as a pipeline holds */
	unsigned int op;
	u64 start; /* what counters start from, and are reset to */
	/* Addresses' fields as the device has them, and the host's memory that it counts. */
	struct anemone_translation translation;
	struct anemone_range range; /* size 0: addresses are the device's own */
	u64 key_base;		    /* of the caller's keys, what is key_device of the device */
	u64 key_device;
	bool every_key; /* the primary mask has all bits from its shift on */
	u64 first_key;	/* of the device, that the table begins with */
};

/* Why something is refused, in words for its author. */
struct anemone_reason {
	char text[128];
};

/*
 * -EINVAL: a field is out of its range. -EOPNOTSUPP: the device was built without it. -ERANGE: no
 * address of the rule is in this memory. reason->text says which and what is allowed.
 */
int anemone_spec_plan(const struct anemone_spec *spec, const struct anemone_shape *shape,
		      const struct anemone_memory *memory, struct anemone_plan *plan,
		      struct anemone_reason *reason);

/* Of it: addresses and keys (address.c), once the fields are known to be in their ranges. */
int anemone_resolve_addresses(const struct anemone_spec *spec, const struct anemone_shape *shape,
			      const struct anemone_memory *memory, struct anemone_plan *plan,
			      struct anemone_reason *reason);

/* Whether the host still has the memory where it was when the plan was made. */
bool anemone_plan_is_current(const struct anemone_plan *plan, const struct anemone_memory *memory);

/* The table's entry for a caller's key; -ERANGE: it is not in this memory or not in the table. */
int anemone_plan_key(const struct anemone_plan *plan, const struct anemone_shape *shape, u64 key,
		     u64 *device_key);

/* Says why in reason->text and is `error`. */
__printf(3, 4) int anemone_refuse(struct anemone_reason *reason, int error, const char *format,
				  ...);

#endif
