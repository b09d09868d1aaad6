// SPDX-License-Identifier: GPL-2.0
/* Decoding of CXL's registers, and host addresses on every kind of memory. */
#include <linux/delay.h>
#include <linux/sizes.h>

#include "../include/anemone_pci.h"
#include "mock.h"
#include "expect_reason.h"

#define GIB ((u64)SZ_1G)
#define HOST (64 * GIB)

/* A committed decoder of the coded ways, by 256 << code bytes. */
#define CONTROL(ways_code, code) (ANEMONE_CXL_DECODER_COMMITTED | (ways_code) << 4 | (code))

static struct anemone_memory memory;

static struct anemone_cxl_registers ranged(void)
{
	return (struct anemone_cxl_registers){
		.found = true,
		.capability = 0x0016,
		.control = ANEMONE_CXL_CONTROL_MEM_ENABLE,
		.range_size = { GIB | ANEMONE_CXL_RANGE_VALID | ANEMONE_CXL_RANGE_ACTIVE },
		.range_base = { HOST },
	};
}

static struct anemone_cxl_registers decoded(u32 control)
{
	struct anemone_cxl_registers registers = ranged();

	registers.decoders_enabled = true;
	registers.decoders = 2;
	registers.range_base[0] = 0; /* must be ignored */
	registers.decoder[0].base = HOST;
	registers.decoder[0].size = 2 * GIB;
	registers.decoder[0].control = control;
	return registers;
}

#define NOT_KNOWN(words, registers_, change)                                                       \
	do {                                                                                       \
		struct anemone_cxl_registers registers = registers_;                               \
		change;                                                                            \
		anemone_memory_decode(&registers, &memory);                                        \
		expect_unknown(test, &memory, words);                                              \
	} while (0)

static void ranges(struct kunit *test)
{
	struct anemone_cxl_registers registers = ranged();

	anemone_memory_decode(&registers, &memory);
	KUNIT_ASSERT_EQ(test, memory.ranges, 1);
	KUNIT_EXPECT_EQ(test, memory.range[0].host_base, HOST);
	KUNIT_EXPECT_EQ(test, memory.range[0].size, GIB);
	KUNIT_EXPECT_EQ(test, memory.range[0].ways, 1);
	/* The second range follows the first in the device, but not in the host. */
	registers.capability = 0x0026;
	registers.range_size[1] = registers.range_size[0];
	registers.range_base[1] = 2 * HOST;
	anemone_memory_decode(&registers, &memory);
	KUNIT_ASSERT_EQ(test, memory.ranges, 2);
	KUNIT_EXPECT_EQ(test, memory.range[1].host_base, 2 * HOST);
	KUNIT_EXPECT_EQ(test, memory.range[1].device_base, GIB);
}

static void unknown_memory(struct kunit *test)
{
	NOT_KNOWN("DVSEC", ranged(), registers.found = false);
	NOT_KNOWN("not enabled", ranged(), registers.control = 0);
	NOT_KNOWN("not valid", ranged(), registers.range_size[0] &= ~1ULL);
	NOT_KNOWN("active", ranged(), registers.range_size[0] &= ~2ULL);
	NOT_KNOWN("not valid", ranged(), registers.range_size[0] = 3);
	NOT_KNOWN("address 0", ranged(), registers.range_base[0] = 0);
	NOT_KNOWN("past the last", ranged(), registers.range_base[0] = ~0ULL << 28;
		  registers.range_size[0] = 2 * GIB | 3);
	NOT_KNOWN("not valid", ranged(), registers.capability = 6);
	NOT_KNOWN("do not answer", ranged(), registers.unresponsive = true);
	NOT_KNOWN("not enabled", decoded(CONTROL(0, 0)), registers.control = 0);
	NOT_KNOWN("committed", decoded(0), (void)0);
	NOT_KNOWN("address 0", decoded(CONTROL(0, 0)), registers.decoder[0].base = 0);
	NOT_KNOWN("way not known", decoded(CONTROL(5, 0)), (void)0);
	NOT_KNOWN("way not known", decoded(CONTROL(11, 0)), (void)0);
	NOT_KNOWN("way not known", decoded(CONTROL(1, 7)), (void)0);
	NOT_KNOWN("way not known", decoded(~0U), (void)0);
}

static void decoders(struct kunit *test)
{
	static const u8 ways[] = { 1, 2, 4, 8, 16, 0, 0, 0, 3, 6, 12 };
	struct anemone_cxl_registers registers;
	unsigned int code;

	for (code = 0; code < ARRAY_SIZE(ways); code++) {
		registers = decoded(CONTROL(code, code % 7));
		registers.decoder[0].size = 12 * GIB;
		anemone_memory_decode(&registers, &memory);
		KUNIT_ASSERT_EQ(test, memory.ranges, !!ways[code]);
		KUNIT_EXPECT_EQ(test, memory.range[0].ways, ways[code]);
		if (ways[code])
			KUNIT_EXPECT_EQ(test, memory.range[0].granularity, 256U << code % 7);
	}
	/* The second decoder's memory follows the first's share and the skipped bytes. */
	registers = decoded(CONTROL(1, 0));
	registers.decoder[1].base = 2 * HOST;
	registers.decoder[1].size = GIB;
	registers.decoder[1].skip = GIB / 2;
	registers.decoder[1].control = CONTROL(0, 0);
	anemone_memory_decode(&registers, &memory);
	KUNIT_ASSERT_EQ(test, memory.ranges, 2);
	KUNIT_EXPECT_EQ(test, memory.range[1].host_base, 2 * HOST);
	KUNIT_EXPECT_EQ(test, memory.range[1].device_base, GIB + GIB / 2);
}

/* --- Host addresses --- */

static struct anemone_plan plan;
static struct anemone_reason reason;

static int planned(struct mock *mock, const struct anemone_spec *spec)
{
	reason.text[0] = 0;
	return anemone_spec_plan(spec, &mock->ctl->hw.shape, &mock->ctl->memory, &plan, &reason);
}

static struct anemone_spec of_host(unsigned int shift)
{
	struct anemone_spec spec = mock_hotness(0);

	spec.flags = ANEMONE_SPEC_HOST;
	spec.filter.end = ~0ULL;
	spec.translation.primary.shift = shift;
	return spec;
}

static struct mock *interleaved(struct kunit *test, unsigned int ways, unsigned int granularity)
{
	struct mock *mock = mock_new(test);
	struct anemone_memory *where = &mock->ctl->memory;

	/* The host maps half of the device in this range, from device address 256 MiB on. */
	where->range[0] = (struct anemone_range){ .host_base = HOST,
						  .size = ways * GIB / 2,
						  .device_base = GIB / 4,
						  .ways = ways,
						  .granularity = granularity };
	return mock;
}

/* Compares CXL's formula for device addresses with keys and counters, for a byte of every line. */
static void stripes(struct kunit *test)
{
	static const struct {
		unsigned int ways, granularity, shift;
	} cases[] = { { 1, 256, 12 },  { 2, 256, 12 },	{ 2, 4096, 13 },
		      { 4, 1024, 14 }, { 16, 256, 12 }, { 8, 16384, 21 } };
	unsigned int c, line;

	for (c = 0; c < ARRAY_SIZE(cases); c++) {
		u64 ways = cases[c].ways, unit = cases[c].granularity;
		struct mock *mock = interleaved(test, ways, unit);
		struct anemone_spec spec = of_host(cases[c].shift);
		struct anemone_telemetry *telemetry;
		u64 first = (HOST >> cases[c].shift) + 40, values[8];
		unsigned int reach = 1U << cases[c].shift, seen = 0;

		spec.filter.start = first << cases[c].shift;
		telemetry = mock_add(test, mock, &spec);
		KUNIT_ASSERT_EQ(test, anemone_set_translation(telemetry, first + 3, 5), 0);
		KUNIT_EXPECT_EQ(test, anemone_set_translation(telemetry, first - 1, 5), -ERANGE);
		KUNIT_EXPECT_EQ(test, anemone_set_translation(telemetry, first + 32, 5), -ERANGE);
		KUNIT_EXPECT_EQ(test, anemone_set_translation(telemetry, first + 31, 6), 0);
		for (line = 0; line < 5 * reach; line += 64) {
			u64 offset = 42 * reach + line; /* from HOST on */

			if (offset / unit % ways != ways - 1) /* belongs to another device */
				continue;
			mock_access(mock, GIB / 4 + offset / (unit * ways) * unit + offset % unit,
				    false);
			seen += line >= reach && line < 2 * reach;
		}
		KUNIT_ASSERT_EQ(test, anemone_read(telemetry, 0, 8, values), 0);
		KUNIT_EXPECT_EQ(test, values[5], seen);
		KUNIT_EXPECT_EQ(test, seen, reach / 64 / ways);
		KUNIT_EXPECT_EQ(test, values[6], 0);
	}
}

/* Listing 1 on memory of two ways: counters of a huge page, by host page. */
static void stripes_within_a_key(struct kunit *test)
{
	struct mock *mock = interleaved(test, 2, 256);
	struct anemone_spec spec = of_host(21);
	struct anemone_telemetry *telemetry;
	u64 values[64];
	unsigned int i;

	spec.translation.sub = (struct anemone_field){ .mask = 0x1f8000, .shift = 15 };
	telemetry = mock_add(test, mock, &spec);
	KUNIT_ASSERT_EQ(test, anemone_set_translation(telemetry, (HOST >> 21) + 2, 0), 0);
	for (i = 0; i < 64; i++) /* page i of the key is at half its host offset */
		mock_access(mock, GIB / 4 + (2 * 0x200000 + i * 0x8000) / 2 + 0x40, false);
	KUNIT_ASSERT_EQ(test, anemone_read(telemetry, 0, 64, values), 0);
	for (i = 0; i < 64; i++)
		KUNIT_EXPECT_EQ(test, values[i], 1);
}

#define REFUSES(error, words, shift, change)                                                       \
	do {                                                                                       \
		struct anemone_spec spec = of_host(shift);                                         \
		change;                                                                            \
		KUNIT_EXPECT_EQ_MSG(test, planned(mock, &spec), error, "%s: %s", words,            \
				    reason.text);                                                  \
		expect_reason(test, reason.text, words);                                           \
	} while (0)

static void refusals(struct kunit *test)
{
	struct mock *mock = interleaved(test, 4, 4096);
	struct anemone_memory *where = &mock->ctl->memory;

	REFUSES(-EINVAL, "interleaved so 14 or more", 13, (void)0);
	REFUSES(-EINVAL, "no multiple of 0x4000", 21, spec.filter.start = HOST + 0x1000);
	REFUSES(-EINVAL, "no multiple of 0x4000", 21, spec.filter.end = HOST + 0x2000);
	REFUSES(-EINVAL, "sub.mask 0x3000", 21, spec.translation.sub.mask = 0x3000);
	REFUSES(-EINVAL, "sub.mask 0x1fc000", 21, spec.translation.sub.mask = 0x1fc000);
	where->range[0].ways = 3;
	REFUSES(-EOPNOTSUPP, "3 ways", 21, (void)0);
	where->range[0].ways = 1;
	where->range[1] = where->range[0];
	where->range[1].host_base = 2 * HOST;
	where->ranges = 2;
	REFUSES(-EINVAL, "two ranges", 21, (void)0);
	REFUSES(-EINVAL, "two ranges", 21, spec.filter.end = 0);
	REFUSES(-ERANGE, "is not in", 21, spec.filter.start = 3 * HOST);
	{
		struct anemone_spec spec = of_host(21);

		spec.filter.start = 2 * HOST;
		KUNIT_EXPECT_EQ(test, planned(mock, &spec), 0);
		KUNIT_EXPECT_EQ(test, plan.range.host_base, 2 * HOST);
		KUNIT_EXPECT_TRUE(test, anemone_plan_is_current(&plan, where));
		where->ranges = 1;
		KUNIT_EXPECT_FALSE(test, anemone_plan_is_current(&plan, where));
	}
}

/* A table of 32 keys of 4 KiB, anywhere in the device, with host and with device addresses. */
static void reach_of_a_table(struct kunit *test)
{
	static const u64 starts[] = { 0, 0x1000, 0x1f000, 0x20000, 0x2b7d5000, 0x3ffe0000 };
	unsigned int i, key;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		struct mock *mock = mock_new(test);
		struct anemone_spec spec = mock_hotness(32);
		struct anemone_telemetry *telemetry;
		u64 first = starts[i] >> 12, values[32];

		spec.translation.primary.shift = 12;
		spec.filter.start = starts[i];
		spec.filter.end = 1ULL << MOCK_ADDRESS_BITS;
		telemetry = mock_add(test, mock, &spec);
		for (key = 0; key < 32; key++)
			KUNIT_ASSERT_EQ(test, anemone_set_translation(telemetry, first + key, key),
					0);
		KUNIT_EXPECT_EQ(test, anemone_set_translation(telemetry, first + 32, 0), -ERANGE);
		if (first)
			KUNIT_EXPECT_EQ(test, anemone_set_translation(telemetry, first - 1, 0),
					-ERANGE);
		/* Neighbours with the same table index must not be counted. */
		for (key = 0; key < 32; key++) {
			mock_access(mock, starts[i] + 0x1000 * key + 0x40 * key, false);
			mock_access(mock, (starts[i] + 0x20000 + 0x1000 * key) % (1 << 30), false);
		}
		KUNIT_ASSERT_EQ(test, anemone_read(telemetry, 0, 32, values), 0);
		for (key = 0; key < 32; key++)
			KUNIT_EXPECT_EQ(test, values[key], 1);
		KUNIT_ASSERT_EQ(test, anemone_clear_translation(telemetry, first + 31), 0);
		KUNIT_EXPECT_EQ(test, telemetry->instance[0].mapped, 31);
	}
}

/* Once the host has moved the memory, new entries would be for other pages. */
static void moved(struct kunit *test)
{
	struct mock *mock = interleaved(test, 1, 256);
	struct anemone_spec spec = of_host(12);
	struct anemone_telemetry *telemetry;
	u64 keys[] = { (HOST >> 12) + 1 }, sweep, value;
	struct anemone_turns turn;
	unsigned int tries;
	int err = 0;

	spec.filter.start = HOST;
	telemetry = mock_add(test, mock, &spec);
	KUNIT_EXPECT_EQ(test, anemone_set_translation(telemetry, keys[0], 1), 0);
	mock->ctl->memory.range[0].host_base = 2 * HOST;
	KUNIT_EXPECT_EQ(test, anemone_set_translation(telemetry, keys[0], 1), -ESTALE);
	KUNIT_EXPECT_EQ(test, anemone_clear_translation(telemetry, keys[0]), 0);
	KUNIT_EXPECT_EQ(test, anemone_rotate(telemetry, keys, 1, 10, &sweep), -ESTALE);
	mock->ctl->memory.range[0].host_base = HOST;
	KUNIT_EXPECT_EQ(test, anemone_rotate(telemetry, keys, 1, 10, &sweep), 0);
	mutex_lock(&mock->ctl->lock);
	mock->ctl->memory.range[0].host_base = 2 * HOST;
	mutex_unlock(&mock->ctl->lock);
	for (tries = 0; tries < 2000 && !err; tries++) {
		usleep_range(500, 1000);
		err = anemone_turn(telemetry, 0, 1, &value, &turn);
	}
	KUNIT_EXPECT_EQ(test, err, -ESTALE);
	KUNIT_EXPECT_EQ(test, anemone_rotate_stop(telemetry), 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(ranges),
	KUNIT_CASE(unknown_memory),
	KUNIT_CASE(decoders),
	KUNIT_CASE(stripes),
	KUNIT_CASE(stripes_within_a_key),
	KUNIT_CASE(refusals),
	KUNIT_CASE(reach_of_a_table),
	KUNIT_CASE(moved),
	{},
};

static struct kunit_suite suite = { .name = "anemone_memory", .test_cases = cases };

kunit_test_suite(suite);
