// SPDX-License-Identifier: GPL-2.0
/* Discovery of a PCI function's resources, with our DVSEC and without one. */
#include <linux/ioport.h>
#include <linux/sizes.h>

#include "../discover.h"
#include "../include/anemone_pci.h"
#include "function.h"

#define GIB ((u64)SZ_1G)
#define BARS (FUNCTION_OURS + PCI_DVSEC_HEADER2)
#define IN_MEMORY (ANEMONE_DVSEC_ID | ANEMONE_DVSEC_IN_MEMORY << 24)

static struct anemone_resources found;

static int discover(struct function *function)
{
	struct anemone_cxl cxl;
	int err;

	found = (struct anemone_resources){};
	anemone_cxl_find(function->pdev, &cxl);
	err = anemone_discover(function->pdev, &cxl, &found);
	anemone_cxl_put(&cxl);
	return err;
}

static void set_region(struct function *function, u64 base, u64 bytes)
{
	function_set(function, FUNCTION_OURS + ANEMONE_DVSEC_TELEMETRY_BASE, base);
	function_set(function, FUNCTION_OURS + ANEMONE_DVSEC_TELEMETRY_BASE + 4, base >> 32);
	function_set(function, FUNCTION_OURS + ANEMONE_DVSEC_TELEMETRY_SIZE, bytes);
	function_set(function, FUNCTION_OURS + ANEMONE_DVSEC_TELEMETRY_SIZE + 4, bytes >> 32);
}

/* The id belongs to no vendor, so a function also needs our DVSEC, with our vendor and number. */
static void needs_our_dvsec(struct kunit *test)
{
	const struct pci_device_id id = { PCI_DEVICE(ANEMONE_PCI_VENDOR, ANEMONE_PCI_DEVICE) };
	const struct pci_device_id named = { PCI_DEVICE(0x8086, 0x0ddb) };
	struct function *function = function_new(test);
	u32 number = ANEMONE_DVSEC_ID | 2 << 24;

	KUNIT_EXPECT_TRUE(test, anemone_discover_is_anemone(function->pdev, &id));
	KUNIT_EXPECT_FALSE(test, anemone_discover_is_anemone(function->second, &id));
	KUNIT_EXPECT_TRUE(test, anemone_discover_is_anemone(function->second, &named));
	function_set(function, BARS, number ^ 1);
	KUNIT_EXPECT_FALSE(test, anemone_discover_is_anemone(function->pdev, &id));
	function_set(function, BARS, number);
	function_set(function, FUNCTION_OURS + PCI_DVSEC_HEADER1, ANEMONE_CXL_VENDOR | 0x20 << 20);
	KUNIT_EXPECT_FALSE(test, anemone_discover_is_anemone(function->pdev, &id));
}

static void by_dvsec(struct kunit *test)
{
	struct function *function = function_new(test);
	/* Control and telemetry BARs that do not exist or are something else. */
	static const u32 wrong[] = { 0x0206, 0x02ff, 0x0202, 0x0201, 0x0600, 0x0100, 0x7f00 };
	unsigned int i;

	KUNIT_ASSERT_EQ(test, discover(function), 0);
	KUNIT_EXPECT_EQ(test, found.control.start, FUNCTION_CONTROL);
	KUNIT_EXPECT_EQ(test, found.lines.start, FUNCTION_LINES);
	KUNIT_EXPECT_EQ(test, resource_size(&found.lines), SZ_4M);
	KUNIT_EXPECT_EQ(test, found.region, 4ULL << 32);
	KUNIT_EXPECT_EQ(test, found.memory.range[0].host_base, FUNCTION_HOST);
	/* The memory's address need not be known then. */
	function_set(function, FUNCTION_CXL + ANEMONE_CXL_CONTROL, 0);
	KUNIT_ASSERT_EQ(test, discover(function), 0);
	KUNIT_EXPECT_EQ(test, found.memory.ranges, 0);
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		function_set(function, BARS, ANEMONE_DVSEC_ID | wrong[i] << 16);
		KUNIT_EXPECT_EQ_MSG(test, discover(function), -ENODEV, "BARs %#x", wrong[i]);
	}
	function_set(function, BARS, ANEMONE_DVSEC_ID | 2 << 24);
	function->control[1]++;
	KUNIT_EXPECT_EQ(test, discover(function), -ENODEV);
	function->control[1]--;
	/* The region must be line-aligned. */
	set_region(function, (4ULL << 32) + 8, SZ_4M);
	KUNIT_EXPECT_EQ(test, discover(function), -ENODEV);
	set_region(function, 4ULL << 32, SZ_4M);
	KUNIT_ASSERT_EQ(test, discover(function), 0);
	function->pdev->resource[0].end = FUNCTION_CONTROL + SZ_1M - 1;
	KUNIT_EXPECT_EQ(test, discover(function), -ENODEV);
}

static void release(void *resource)
{
	release_resource(resource);
}

static void region_in_memory(struct kunit *test)
{
	struct function *function = function_new(test);
	struct resource *ram = kunit_kzalloc(test, sizeof(*ram), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ram);
	function_set(function, BARS, IN_MEMORY);
	set_region(function, 0, SZ_16M); /* at the memory's end */
	KUNIT_ASSERT_EQ(test, discover(function), 0);
	KUNIT_EXPECT_EQ(test, found.lines.start, FUNCTION_HOST + GIB - SZ_16M);
	KUNIT_EXPECT_EQ(test, resource_size(&found.lines), SZ_16M);
	KUNIT_EXPECT_EQ(test, found.region, GIB - SZ_16M);
	set_region(function, SZ_64M, SZ_16M);
	KUNIT_ASSERT_EQ(test, discover(function), 0);
	KUNIT_EXPECT_EQ(test, found.lines.start, FUNCTION_HOST + SZ_64M);
	KUNIT_EXPECT_EQ(test, found.region, SZ_64M);
	/* Partly outside of the memory, or empty. */
	set_region(function, GIB - SZ_16M + 64, SZ_16M);
	KUNIT_EXPECT_EQ(test, discover(function), -ENODEV);
	set_region(function, ~0ULL << 20, SZ_16M);
	KUNIT_EXPECT_EQ(test, discover(function), -ENODEV);
	set_region(function, 0, GIB + 1);
	KUNIT_EXPECT_EQ(test, discover(function), -ENODEV);
	set_region(function, 0, 0);
	KUNIT_EXPECT_EQ(test, discover(function), -ENODEV);
	set_region(function, SZ_64M + 16, SZ_16M);
	KUNIT_EXPECT_EQ(test, discover(function), -ENODEV);
	/* Linux already uses it as memory. */
	set_region(function, 0, SZ_16M);
	*ram = (struct resource)DEFINE_RES_MEM_NAMED(FUNCTION_HOST, GIB, "System RAM");
	ram->flags = IORESOURCE_SYSTEM_RAM | IORESOURCE_BUSY;
	KUNIT_ASSERT_EQ(test, insert_resource(&iomem_resource, ram), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, release, ram), 0);
	KUNIT_EXPECT_EQ(test, discover(function), -EBUSY);
	/*
	 * In interleaved memory the region would be split over devices, and the memory must be
	 * known.
	 */
	function_set_decoder(function, 0, 2 * FUNCTION_HOST, 2 * GIB,
			     ANEMONE_CXL_DECODER_COMMITTED | 1 << 4);
	KUNIT_EXPECT_EQ(test, discover(function), -EOPNOTSUPP);
	function_set_decoder(function, 0, 2 * FUNCTION_HOST, 2 * GIB, 0);
	KUNIT_EXPECT_EQ(test, discover(function), -ENODEV);
}

/* Without a DVSEC: found by the register `id`, with the region at the memory's end. */
static void without_dvsec(struct kunit *test)
{
	struct function *function = function_new(test);

	function_set(function, BARS, 1);
	KUNIT_ASSERT_EQ(test, discover(function), 0);
	KUNIT_EXPECT_EQ(test, found.control.start, FUNCTION_CONTROL);
	KUNIT_EXPECT_EQ(test, found.lines.start, FUNCTION_HOST + GIB - SZ_16M);
	function->control[0] = 0;
	KUNIT_EXPECT_EQ(test, discover(function), -ENODEV);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(needs_our_dvsec),
	KUNIT_CASE(by_dvsec),
	KUNIT_CASE(region_in_memory),
	KUNIT_CASE(without_dvsec),
	{},
};

static struct kunit_suite suite = { .name = "anemone_discover", .test_cases = cases };

kunit_test_suite(suite);
