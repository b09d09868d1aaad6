/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the host has a device's memory (CXL 3.1, 8.1.3 and 8.2.4.20): out of what the registers
 * say. No more than arithmetic, so that KUnit can look at it; cxl.c reads the registers.
 */
#ifndef ANEMONE_MEMORY_H
#define ANEMONE_MEMORY_H

#include <linux/types.h>

#define ANEMONE_MAX_RANGES 10 /* HDM decoders of a device */

/*
 * A piece of a device's memory. Interleaved, `ways` devices take turns, every `granularity` bytes:
 * of each stripe of ways * granularity bytes of the host, `granularity` are this device's, at the
 * stripe's number * granularity. Which of them, the device's registers do not say.
 */
struct anemone_range {
	u64 host_base, size; /* of the host's addresses, the other devices' among them */
	u64 device_base;
	u32 ways, granularity;
};

struct anemone_memory {
	unsigned int ranges;
	struct anemone_range range[ANEMONE_MAX_RANGES];
	const char *unknown; /* why, where there are none: the end of a sentence */
};

/* As they are read; range and decoder registers as pairs, high << 32 | low. */
struct anemone_cxl_registers {
	bool found; /* the DVSEC of CXL's devices */
	u16 capability, control;
	u64 range_size[2], range_base[2];
	bool unresponsive;     /* a block of component registers is named, and is not there */
	bool decoders_enabled; /* HDM decoders are there and enabled: the ranges mean nothing */
	unsigned int decoders;
	struct {
		u64 base, size, skip;
		u32 control;
	} decoder[ANEMONE_MAX_RANGES];
};

/* Without a range in it, memory->unknown says why. */
void anemone_memory_decode(const struct anemone_cxl_registers *registers,
			   struct anemone_memory *memory);
/* One range that is not interleaved, from device address 0 on; as the module's parameters say. */
void anemone_memory_set(struct anemone_memory *memory, u64 host_base, u64 size);
/* No range any more: why. */
void anemone_memory_clear(struct anemone_memory *memory, const char *why);

#endif
