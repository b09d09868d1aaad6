// SPDX-License-Identifier: GPL-2.0
/* Computes where the host has the memory from CXL's range registers and HDM decoders. */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "include/anemone_pci.h"
#include "memory.h"

/* The low 28 bits of sizes and bases are flags. */
#define ADDRESS(value) ((value) & ~((1ULL << 28) - 1))

void anemone_memory_clear(struct anemone_memory *memory, const char *why)
{
	*memory = (struct anemone_memory){ .unknown = why };
}

static void anemone_memory_add_range(struct anemone_memory *memory,
				     const struct anemone_range *range)
{
	/* Host address 0 is the host's own memory, so a range there was never set. */
	if (!range->host_base)
		memory->unknown = "what says so begins at the host's address 0";
	else if (range->host_base + range->size - 1 < range->host_base)
		memory->unknown = "what says so ends past the last address";
	else if (memory->ranges < ANEMONE_MAX_RANGES)
		memory->range[memory->ranges++] = *range;
}

void anemone_memory_set(struct anemone_memory *memory, u64 host_base, u64 size)
{
	const struct anemone_range range = {
		.host_base = host_base, .size = size, .ways = 1, .granularity = 256
	};

	*memory = (struct anemone_memory){};
	anemone_memory_add_range(memory, &range);
	if (memory->unknown)
		memory->ranges = 0;
}

/* Decode the interleaving of a decoder's control register. */
static unsigned int anemone_decoder_ways(u32 control)
{
	unsigned int code = control >> 4 & 0xf;

	if (code <= 4)
		return 1U << code;
	return code >= 8 && code <= 10 ? 3U << (code - 8) : 0;
}

static unsigned int anemone_decoder_granularity(u32 control)
{
	unsigned int code = control & 0xf;

	return code <= 6 ? 256U << code : 0;
}

/* In order, because a decoder's memory begins where that of the one before ends. */
static void anemone_memory_from_decoders(const struct anemone_cxl_registers *registers,
					 struct anemone_memory *memory)
{
	u64 device_base = 0;
	unsigned int i;

	memory->unknown = "no HDM decoder of it is committed";
	for (i = 0; i < registers->decoders; i++) {
		u32 control = registers->decoder[i].control;
		struct anemone_range range = {
			.host_base = ADDRESS(registers->decoder[i].base),
			.size = ADDRESS(registers->decoder[i].size),
			.ways = anemone_decoder_ways(control),
			.granularity = anemone_decoder_granularity(control),
		};

		if (!(control & ANEMONE_CXL_DECODER_COMMITTED) || !range.size)
			continue;
		memory->unknown = NULL;
		if (!range.ways || !range.granularity || range.size % range.ways) {
			memory->unknown = "an HDM decoder of it is interleaved in a way not known";
			return;
		}
		device_base += ADDRESS(registers->decoder[i].skip);
		range.device_base = device_base;
		device_base += range.size / range.ways;
		anemone_memory_add_range(memory, &range);
		if (memory->unknown)
			return;
	}
}

static void anemone_memory_from_ranges(const struct anemone_cxl_registers *registers,
				       struct anemone_memory *memory)
{
	unsigned int count = registers->capability >> ANEMONE_CXL_CAPABILITY_RANGES_SHIFT & 3, i;
	u64 device_base = 0;

	memory->unknown = "CXL's range 1 is not valid and active";
	for (i = 0; i < min(count, 2U); i++) {
		u64 flags = ANEMONE_CXL_RANGE_VALID | ANEMONE_CXL_RANGE_ACTIVE;
		struct anemone_range range = {
			.host_base = ADDRESS(registers->range_base[i]),
			.size = ADDRESS(registers->range_size[i]),
			.device_base = device_base,
			.ways = 1,
			.granularity = 256,
		};

		if ((registers->range_size[i] & flags) != flags || !range.size)
			return;
		memory->unknown = NULL;
		anemone_memory_add_range(memory, &range);
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
	else if (registers->unresponsive)
		memory->unknown = "its component registers do not answer";
	else if (registers->decoders_enabled)
		anemone_memory_from_decoders(registers, memory);
	else
		anemone_memory_from_ranges(registers, memory);
	if (memory->unknown)
		memory->ranges = 0;
	else if (!memory->ranges)
		memory->unknown = "it has none";
}
