// SPDX-License-Identifier: GPL-2.0
/* From CXL's range registers and HDM decoders to where the host has the memory. */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "include/anemone_pci.h"
#include "memory.h"

/* The low 28 bits of sizes and bases are flags. */
#define PLACE(value) ((value) & ~((1ULL << 28) - 1))

void anemone_memory_forget(struct anemone_memory *memory, const char *why)
{
	*memory = (struct anemone_memory){ .unknown = why };
}

static void add(struct anemone_memory *memory, const struct anemone_range *range)
{
	/* Address 0 of a host is its own memory: a range there was never set. */
	if (!range->host_base)
		memory->unknown = "what says so begins at the host's address 0";
	else if (range->host_base + range->size - 1 < range->host_base)
		memory->unknown = "what says so ends past the last address";
	else if (memory->ranges < ANEMONE_RANGES_MOST)
		memory->range[memory->ranges++] = *range;
}

void anemone_memory_set(struct anemone_memory *memory, u64 host_base, u64 size)
{
	const struct anemone_range range = {
		.host_base = host_base, .size = size, .ways = 1, .granularity = 256
	};

	*memory = (struct anemone_memory){};
	add(memory, &range);
	if (memory->unknown)
		memory->ranges = 0;
}

/* Encodings of the decoders' control register. */
static unsigned int ways_of(u32 control)
{
	unsigned int code = control >> 4 & 0xf;

	if (code <= 4)
		return 1U << code;
	return code >= 8 && code <= 10 ? 3U << (code - 8) : 0;
}

static unsigned int granularity_of(u32 control)
{
	unsigned int code = control & 0xf;

	return code <= 6 ? 256U << code : 0;
}

/* In order: a decoder's memory begins where that of the one before ends. */
static void from_decoders(const struct anemone_cxl_registers *registers,
			  struct anemone_memory *memory)
{
	u64 device_base = 0;
	unsigned int i;

	memory->unknown = "no HDM decoder of it is committed";
	for (i = 0; i < registers->decoders; i++) {
		u32 control = registers->decoder[i].control;
		struct anemone_range range = {
			.host_base = PLACE(registers->decoder[i].base),
			.size = PLACE(registers->decoder[i].size),
			.ways = ways_of(control),
			.granularity = granularity_of(control),
		};

		if (!(control & ANEMONE_CXL_DECODER_COMMITTED) || !range.size)
			continue;
		memory->unknown = NULL;
		if (!range.ways || !range.granularity || range.size % range.ways) {
			memory->unknown = "an HDM decoder of it is interleaved in a way not known";
			return;
		}
		device_base += PLACE(registers->decoder[i].skip);
		range.device_base = device_base;
		device_base += range.size / range.ways;
		add(memory, &range);
		if (memory->unknown)
			return;
	}
}

static void from_ranges(const struct anemone_cxl_registers *registers,
			struct anemone_memory *memory)
{
	unsigned int count = registers->capability >> ANEMONE_CXL_CAPABILITY_RANGES_SHIFT & 3, i;
	u64 device_base = 0;

	memory->unknown = "CXL's range 1 is not valid and active";
	for (i = 0; i < min(count, 2U); i++) {
		u64 flags = ANEMONE_CXL_RANGE_VALID | ANEMONE_CXL_RANGE_ACTIVE;
		struct anemone_range range = {
			.host_base = PLACE(registers->range_base[i]),
			.size = PLACE(registers->range_size[i]),
			.device_base = device_base,
			.ways = 1,
			.granularity = 256,
		};

		if ((registers->range_size[i] & flags) != flags || !range.size)
			return;
		memory->unknown = NULL;
		add(memory, &range);
		if (memory->unknown)
			return;
		device_base += range.size;
	}
}

void anemone_memory_decode(const struct anemone_cxl_registers *registers,
			   struct anemone_memory *memory)
{
	*memory = (struct anemone_memory){};
	if (!registers->found)
		memory->unknown = "it has no DVSEC of CXL";
	else if (!(registers->control & ANEMONE_CXL_CONTROL_MEM_ENABLE))
		memory->unknown = "CXL.mem is not enabled";
	else if (registers->silent)
		memory->unknown = "its component registers do not answer";
	else if (registers->decoding)
		from_decoders(registers, memory);
	else
		from_ranges(registers, memory);
	if (memory->unknown)
		memory->ranges = 0;
	else if (!memory->ranges)
		memory->unknown = "it has none";
}
