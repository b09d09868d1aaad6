/* SPDX-License-Identifier: GPL-2.0 */
/* Checks what a caller asks for, and plans it for one controller. */
#ifndef ANEMONE_SPEC_H
#define ANEMONE_SPEC_H

#include "hw.h"
#include "memory.h"
#include "include/uapi/linux/anemone.h"

struct anemone_plan {
	struct anemone_rule rule;
	unsigned int width;	      /* bits of a counter */
	unsigned int region_counters; /* a power of two */
	unsigned int counters;	      /* per pipeline and channel */
	unsigned int granule;	      /* counters per line */
	unsigned int regions;	      /* wanted; 0: as many as a pipeline holds */
	unsigned int op;
	u64 start; /* start and reset value of counters */
	/* The address fields for the device, and the host memory that they refer to. */
	struct anemone_translation translation;
	struct anemone_range range; /* size 0: addresses are the device's */
	u64 key_base;		    /* the caller's key that is key_device on the device */
	u64 key_device;
	bool every_key; /* the primary mask has all bits from its shift on */
	u64 first_key;	/* the device's key of the table's first entry */
};

/* The reason for a refusal, as text for the caller. */
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

/* Its last step: addresses and keys (address.c), after the fields have been checked. */
int anemone_resolve_addresses(const struct anemone_spec *spec, const struct anemone_shape *shape,
			      const struct anemone_memory *memory, struct anemone_plan *plan,
			      struct anemone_reason *reason);

/* Whether the host still has the memory where it was when the plan was made. */
bool anemone_plan_is_current(const struct anemone_plan *plan, const struct anemone_memory *memory);

/* Translates a caller's key to a table entry; -ERANGE: not in this memory or not in the table. */
int anemone_plan_key(const struct anemone_plan *plan, const struct anemone_shape *shape, u64 key,
		     u64 *device_key);

/* Writes the reason to reason->text, and returns `error`. */
__printf(3, 4) int anemone_refuse(struct anemone_reason *reason, int error, const char *format,
				  ...);

#endif
