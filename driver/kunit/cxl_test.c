// SPDX-License-Identifier: GPL-2.0
/* How cxl.c finds and reads CXL's registers of a PCI function. */
#include <linux/ioport.h>
#include <linux/sizes.h>

#include "../cxl.h"
#include "../include/anemone_pci.h"
#include "function.h"
#include "expect_reason.h"

#define FLAGS (ANEMONE_CXL_RANGE_VALID | ANEMONE_CXL_RANGE_ACTIVE)
#define GIB ((u64)SZ_1G)
#define COMPONENT_ENTRY (FUNCTION_LOCATOR + 0x14)

static struct anemone_memory memory;

/* Decodes the memory of a function. */
static void decode_memory(struct pci_dev *pdev)
{
	struct anemone_cxl cxl;

	memory = (struct anemone_memory){};
	anemone_cxl_find(pdev, &cxl);
	anemone_cxl_memory(&cxl, &memory);
	anemone_cxl_put(&cxl);
}

#define KNOWN(base, bytes)                                                                         \
	do {                                                                                       \
		decode_memory(function->pdev);                                                     \
		KUNIT_ASSERT_EQ_MSG(test, memory.ranges, 1, "%s", memory.unknown);                 \
		KUNIT_EXPECT_EQ(test, memory.range[0].host_base, base);                            \
		KUNIT_EXPECT_EQ(test, memory.range[0].size, bytes);                                \
	} while (0)

#define NOT_KNOWN(words)                                                                           \
	do {                                                                                       \
		decode_memory(function->pdev);                                                     \
		expect_unknown(test, &memory, words);                                              \
	} while (0)

/* A range is used only with Mem_Enable, Memory_Info_Valid and Memory_Active. */
static void ranges(struct kunit *test)
{
	struct function *function = function_new(test);
	int enable = FUNCTION_CXL + ANEMONE_CXL_CONTROL;

	KNOWN(FUNCTION_HOST, GIB);
	KUNIT_EXPECT_EQ(test, memory.range[0].ways, 1);
	function_set(function, enable, ~(u32)ANEMONE_CXL_CONTROL_MEM_ENABLE);
	NOT_KNOWN("not enabled");
	function_set(function, enable, ANEMONE_CXL_CONTROL_MEM_ENABLE);
	function_set_range(function, 0, FUNCTION_HOST, GIB | ANEMONE_CXL_RANGE_ACTIVE);
	NOT_KNOWN("not valid and active");
	function_set_range(function, 0, FUNCTION_HOST, GIB | ANEMONE_CXL_RANGE_VALID);
	NOT_KNOWN("not valid and active");
	function_set_range(function, 0, 0, GIB | FLAGS);
	NOT_KNOWN("address 0");
	/* The high words are read, too. */
	function_set_range(function, 0, 3ULL << 40 | SZ_256M, 5ULL << 36 | FLAGS);
	KNOWN(3ULL << 40 | SZ_256M, 5ULL << 36);
	/* Both ranges are used where the capability says that there are two. */
	function_set(function, FUNCTION_CXL + 8, 0x0026 << 16);
	function_set_range(function, 1, FUNCTION_HOST, GIB | FLAGS);
	decode_memory(function->pdev);
	KUNIT_ASSERT_EQ(test, memory.ranges, 2);
	KUNIT_EXPECT_EQ(test, memory.range[1].host_base, FUNCTION_HOST);
}

/* If decoders are enabled, the ranges mean nothing. */
static void decoders(struct kunit *test)
{
	struct function *function = function_new(test);
	u32 committed = ANEMONE_CXL_DECODER_COMMITTED;

	function_set_decoder(function, 0, 2 * FUNCTION_HOST, 4 * GIB, 0);
	NOT_KNOWN("no HDM decoder of it is committed");
	function_set_decoder(function, 0, 0, 4 * GIB, committed);
	NOT_KNOWN("address 0");
	function_set_decoder(function, 0, 2 * FUNCTION_HOST, 4 * GIB, committed);
	KNOWN(2 * FUNCTION_HOST, 4 * GIB);
	function_set_decoder(function, 0, 2 * FUNCTION_HOST, 4 * GIB, committed | 1 << 4 | 2);
	KNOWN(2 * FUNCTION_HOST, 4 * GIB);
	KUNIT_EXPECT_EQ(test, memory.range[0].ways, 2);
	KUNIT_EXPECT_EQ(test, memory.range[0].granularity, 1024);
	function_set_decoder(function, 1, 3 * FUNCTION_HOST, 2 * GIB, committed);
	decode_memory(function->pdev);
	KUNIT_ASSERT_EQ(test, memory.ranges, 2);
	KUNIT_EXPECT_EQ(test, memory.range[1].host_base, 3 * FUNCTION_HOST);
	KUNIT_EXPECT_EQ(test, memory.range[1].device_base, 2 * GIB);
	function_set_decoder(function, 0, 2 * FUNCTION_HOST, 4 * GIB, committed | 6 << 4);
	NOT_KNOWN("interleaved in a way not known");
	function_set(function, FUNCTION_CXL + ANEMONE_CXL_CONTROL, 0);
	NOT_KNOWN("not enabled");
}

/* A decoder count larger than any device's is limited. */
static void many_decoders(struct kunit *test)
{
	struct function *function = function_new(test);
	unsigned int i;

	function->component[(ANEMONE_CXL_CACHEMEM + 0x200) / 4] = 0xf;
	for (i = 0; i < 30; i++)
		function_set_decoder(function, i, (i + 1) * FUNCTION_HOST, SZ_256M,
				     ANEMONE_CXL_DECODER_COMMITTED);
	decode_memory(function->pdev);
	KUNIT_EXPECT_EQ(test, memory.ranges, ANEMONE_MAX_RANGES);
}

/* Decoders change while Linux runs, so each decode reads the current ones. */
static void committed_later(struct kunit *test)
{
	struct function *function = function_new(test);
	struct anemone_cxl cxl;

	function_set_decoder(function, 0, FUNCTION_HOST, GIB, 0);
	anemone_cxl_find(function->pdev, &cxl);
	anemone_cxl_memory(&cxl, &memory);
	KUNIT_EXPECT_EQ(test, memory.ranges, 0);
	function_set_decoder(function, 0, FUNCTION_HOST, GIB, ANEMONE_CXL_DECODER_COMMITTED);
	anemone_cxl_memory(&cxl, &memory);
	KUNIT_EXPECT_EQ(test, memory.ranges, 1);
	function_set(function, FUNCTION_CXL + ANEMONE_CXL_CONTROL, 0);
	anemone_cxl_memory(&cxl, &memory);
	KUNIT_EXPECT_EQ(test, memory.ranges, 0);
	anemone_cxl_put(&cxl);
}

/* If named component registers do not answer, the ranges may be stale and are not used. */
static void unresponsive_component_registers(struct kunit *test)
{
	struct function *function = function_new(test);
	u32 *cm = function->component + ANEMONE_CXL_CACHEMEM / 4;
	static const u32 entries[] = {
		SZ_64K | ANEMONE_CXL_BLOCK_COMPONENT << 8 | 7, /* in a BAR that does not exist */
		SZ_64K | ANEMONE_CXL_BLOCK_COMPONENT << 8 |
			1, /* in a BAR that the function does not have */
		SZ_128K | ANEMONE_CXL_BLOCK_COMPONENT << 8 | 4, /* past the end of the BAR */
		0xffff0000 | ANEMONE_CXL_BLOCK_COMPONENT << 8 | 4,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(entries); i++) {
		function_set(function, COMPONENT_ENTRY, entries[i]);
		NOT_KNOWN("do not answer");
	}
	function_set(function, COMPONENT_ENTRY, SZ_64K | ANEMONE_CXL_BLOCK_COMPONENT << 8 | 4);
	function_set(function, COMPONENT_ENTRY + 4, 1); /* 4 GiB past the BAR's start */
	NOT_KNOWN("do not answer");
	function_set(function, COMPONENT_ENTRY + 4, 0);
	KNOWN(FUNCTION_HOST, GIB);
	cm[0] = ~0U;
	NOT_KNOWN("do not answer");
	cm[0] = 2 << 24 | 5;
	NOT_KNOWN("do not answer");
	cm[0] = 2 << 24 | ANEMONE_CXL_CM_ID;
	function_set_decoder(function, 0, ~0ULL, ~0ULL, ~0U);
	NOT_KNOWN("do not answer");
	/* The locator and the component registers are optional. */
	function_set(function, COMPONENT_ENTRY, SZ_64K | 3 << 8 | 4);
	KNOWN(FUNCTION_HOST, GIB);
	function_set(function, FUNCTION_LOCATOR + PCI_DVSEC_HEADER1, 0x1234 | 0x1c << 20);
	KNOWN(FUNCTION_HOST, GIB);
}

/* CXL's DVSEC is in function 0, and ours may be in another function. */
static void dvsec_of_function_0(struct kunit *test)
{
	struct function *function = function_new(test);
	struct pci_dev *both[] = { function->pdev, function->second };
	unsigned int i, before[2];

	for (i = 0; i < 2; i++)
		before[i] = kref_read(&both[i]->dev.kobj.kref);
	decode_memory(function->second);
	KUNIT_ASSERT_EQ(test, memory.ranges, 1);
	KUNIT_EXPECT_EQ(test, memory.range[0].host_base, FUNCTION_HOST);
	function_set(function, FUNCTION_CXL + PCI_DVSEC_HEADER1, 0x1234);
	decode_memory(function->second);
	NOT_KNOWN("no DVSEC of CXL");
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, kref_read(&both[i]->dev.kobj.kref), before[i]);
}

static void release(void *window)
{
	release_resource(window);
}

/* If the kernel knows CXL windows, ranges outside of them are not used. */
static void windows(struct kunit *test)
{
	struct function *function = function_new(test);
	struct resource *window = kunit_kzalloc(test, sizeof(*window), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, window);
	*window = (struct resource)DEFINE_RES_MEM_NAMED(FUNCTION_HOST, 2 * GIB, "CXL Window 0");
	window->desc = IORES_DESC_CXL;
	KUNIT_ASSERT_EQ(test, insert_resource(&iomem_resource, window), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, release, window), 0);
	KNOWN(FUNCTION_HOST, GIB);
	function_set_range(function, 0, FUNCTION_HOST + GIB, GIB | FLAGS);
	KNOWN(FUNCTION_HOST + GIB, GIB);
	function_set_range(function, 0, FUNCTION_HOST + GIB, 2 * GIB | FLAGS);
	NOT_KNOWN("in no CXL window");
	function_set_range(function, 0, FUNCTION_HOST - GIB, 2 * GIB | FLAGS);
	NOT_KNOWN("in no CXL window");
	function_set_range(function, 0, GIB, GIB | FLAGS);
	NOT_KNOWN("in no CXL window");
}

static struct kunit_case cases[] = {
	KUNIT_CASE(ranges),
	KUNIT_CASE(decoders),
	KUNIT_CASE(many_decoders),
	KUNIT_CASE(committed_later),
	KUNIT_CASE(unresponsive_component_registers),
	KUNIT_CASE(dvsec_of_function_0),
	KUNIT_CASE(windows),
	{},
};

static struct kunit_suite suite = { .name = "anemone_cxl", .test_cases = cases };

kunit_test_suite(suite);
