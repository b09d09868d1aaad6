/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the host has a device's memory (CXL 3.1, 8.1.3 and 8.2.4.20), from the registers that cxl.c
 * reads. Only arithmetic, so that KUnit can test it.
 */
#ifndef ANEMONE_MEMORY_H
#define ANEMONE_MEMORY_H

#include <linux/types.h>

#define ANEMONE_MAX_RANGES 10 /* most HDM decoders of a device */

/*
 * A range of a device's memory. If it is interleaved, `ways` devices alternate every `granularity`
 * bytes. Of each stripe of ways * granularity host bytes, `granularity` bytes are this device's, at
 * stripe number * granularity. The device's registers do not say which bytes.
 */
struct anemone_range {
	u64 host_base, size; /* host addresses, including the other devices' shares */
	u64 device_base;
	u32 ways, granularity;
};

struct anemone_memory {
	unsigned int ranges;
	struct anemone_range range[ANEMONE_MAX_RANGES];
	const char *unknown; /* why there are no ranges: the end of a sentence */
};

/* Register contents; range and decoder registers are pairs, high << 32 | low. */
struct anemone_cxl_registers {
	bool found; /* has the DVSEC of CXL devices */
	u16 capability, control;
	u64 range_size[2], range_base[2];
	bool unresponsive;     /* names component registers that do not answer */
	bool decoders_enabled; /* has enabled HDM decoders, so the ranges mean nothing */
	unsigned int decoders;
	struct {
		u64 base, size, skip;
		u32 control;
	} decoder[ANEMONE_MAX_RANGES];
};

/* Sets the ranges; if there are none, memory->unknown says why. */
void anemone_memory_decode(const struct anemone_cxl_registers *registers,
			   struct anemone_memory *memory);
/* Sets one range from device address 0, not interleaved, as the module's parameters say. */
void anemone_memory_set(struct anemone_memory *memory, u64 host_base, u64 size);
/* Removes all ranges, and says why. */
void anemone_memory_clear(struct anemone_memory *memory, const char *why);

#endif
