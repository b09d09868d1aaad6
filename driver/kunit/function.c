// SPDX-License-Identifier: GPL-2.0
#include <linux/err.h>
#include <linux/logic_iomem.h>
#include <linux/sizes.h>

#include "../include/anemone_pci.h"
#include "../include/anemone_regs.h"
#include "function.h"

#define BUS 0x40
#define PCIE 0x40 /* offset of the PCI Express capability */
#define HDM 0x200 /* offset of the decoder capability after ANEMONE_CXL_CACHEMEM */

/* Emulated memory is registered until the machine ends; it shows the current test's function. */
static struct function *now;

static unsigned long look(const void *memory, size_t bytes, unsigned int offset, int size)
{
	u64 value = ~0ULL;

	if (offset < bytes)
		memcpy(&value, memory + offset, size);
	return value;
}

static unsigned long read_control(void *unused, unsigned int offset, int size)
{
	return look(now->control, sizeof(now->control), offset, size);
}

static unsigned long read_component(void *unused, unsigned int offset, int size)
{
	return look(now->component, sizeof(now->component), offset - SZ_64K, size);
}

static void write_nothing(void *unused, unsigned int offset, int size, unsigned long value)
{
}

static const struct logic_iomem_ops control_ops = { .read = read_control, .write = write_nothing };
static const struct logic_iomem_ops component_ops = { .read = read_component,
						      .write = write_nothing };

/* It is mapped in areas of 16 MiB. */
static long map_memory(unsigned long offset, size_t size, const struct logic_iomem_ops **ops,
		       void **priv)
{
	*ops = offset < SZ_16M ? &control_ops : &component_ops;
	return offset % SZ_16M;
}

static const struct logic_iomem_region_ops region_ops = { .map = map_memory };

static struct resource region = {
	.name = "function of a test",
	.start = FUNCTION_CONTROL,
	.end = FUNCTION_CONTROL + SZ_64M - 1,
	.flags = IORESOURCE_MEM,
};

static int read_config(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 *value)
{
	*value = ~0U;
	if (PCI_SLOT(devfn) || PCI_FUNC(devfn) > 1)
		return PCIBIOS_DEVICE_NOT_FOUND;
	*value = now->config[PCI_FUNC(devfn)][where / 4] >> where % 4 * 8;
	if (size < 4)
		*value &= (1U << size * 8) - 1;
	return PCIBIOS_SUCCESSFUL;
}

static int write_config(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 value)
{
	return PCIBIOS_SUCCESSFUL;
}

static struct pci_ops config_ops = { .read = read_config, .write = write_config };

static struct resource bus_numbers = {
	.name = "buses of a test", .start = BUS, .end = BUS, .flags = IORESOURCE_BUS
};

static void remove(void *bridge)
{
	struct function *function = now;

	pci_dev_put(function->pdev);
	pci_dev_put(function->second);
	pci_stop_root_bus(((struct pci_host_bridge *)bridge)->bus);
	pci_remove_root_bus(((struct pci_host_bridge *)bridge)->bus);
	pci_free_host_bridge(bridge);
}

void function_set(struct function *function, int at, u32 value)
{
	function->config[0][at / 4] = value;
}

void function_set_range(struct function *function, unsigned int i, u64 base, u64 size)
{
	function_set(function, FUNCTION_CXL + ANEMONE_CXL_RANGE_SIZE_HIGH(i), size >> 32);
	function_set(function, FUNCTION_CXL + ANEMONE_CXL_RANGE_SIZE_LOW(i), size);
	function_set(function, FUNCTION_CXL + ANEMONE_CXL_RANGE_BASE_HIGH(i), base >> 32);
	function_set(function, FUNCTION_CXL + ANEMONE_CXL_RANGE_BASE_LOW(i), base);
}

void function_set_decoder(struct function *function, unsigned int i, u64 base, u64 size,
			  u32 control)
{
	u32 *words = function->component + (ANEMONE_CXL_CACHEMEM + HDM) / 4;
	u32 *decoder = words + ANEMONE_CXL_DECODER(i) / 4;

	words[1] = ANEMONE_CXL_HDM_ENABLE;
	decoder[0] = base;
	decoder[1] = base >> 32;
	decoder[2] = size;
	decoder[3] = size >> 32;
	decoder[4] = control;
}

static void dvsec(struct function *function, int at, int next, u16 vendor, u16 id, u16 length)
{
	function_set(function, at, PCI_EXT_CAP_ID_DVSEC | 1 << 16 | next << 20);
	function_set(function, at + PCI_DVSEC_HEADER1, vendor | length << 20);
	function_set(function, at + PCI_DVSEC_HEADER2, id);
}

static void fill(struct function *function)
{
	u32 *cm = function->component + ANEMONE_CXL_CACHEMEM / 4;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		u32 *config = function->config[i];

		config[0] = ANEMONE_PCI_DEVICE << 16 | ANEMONE_PCI_VENDOR;
		config[1] = PCI_STATUS_CAP_LIST << 16 | PCI_COMMAND_MEMORY;
		config[2] = PCI_CLASS_SYSTEM_OTHER << 16;
		config[PCI_CACHE_LINE_SIZE / 4] = PCI_HEADER_TYPE_MFD << 16;
		config[PCI_CAPABILITY_LIST / 4] = PCIE;
		config[PCIE / 4] = PCI_CAP_ID_EXP | (2 | PCI_EXP_TYPE_RC_END << 4) << 16;
	}
	dvsec(function, FUNCTION_OURS, FUNCTION_CXL, ANEMONE_PCI_VENDOR, ANEMONE_DVSEC_ID,
	      ANEMONE_DVSEC_LENGTH);
	function->config[0][(FUNCTION_OURS + PCI_DVSEC_HEADER2) / 4] |=
		0 << 16 | 2 << 24; /* BARs of control registers and of the region */
	function_set(function, FUNCTION_OURS + ANEMONE_DVSEC_TELEMETRY_BASE + 4, 4);
	function_set(function, FUNCTION_OURS + ANEMONE_DVSEC_TELEMETRY_SIZE, SZ_4M);
	dvsec(function, FUNCTION_CXL, FUNCTION_LOCATOR, ANEMONE_CXL_VENDOR,
	      ANEMONE_CXL_DEVICE_DVSEC, 0x3c);
	function->config[0][(FUNCTION_CXL + PCI_DVSEC_HEADER2) / 4] |= 0x0016 << 16;
	function_set(function, FUNCTION_CXL + ANEMONE_CXL_CONTROL, ANEMONE_CXL_CONTROL_MEM_ENABLE);
	function_set_range(function, 0, FUNCTION_HOST,
			   SZ_1G | ANEMONE_CXL_RANGE_VALID | ANEMONE_CXL_RANGE_ACTIVE);
	dvsec(function, FUNCTION_LOCATOR, 0, ANEMONE_CXL_VENDOR, ANEMONE_CXL_LOCATOR_DVSEC, 0x1c);
	function_set(function, FUNCTION_LOCATOR + 0x0c, 3 << 8 | 4); /* registers of another kind */
	function_set(function, FUNCTION_LOCATOR + 0x14,
		     SZ_64K | ANEMONE_CXL_BLOCK_COMPONENT << 8 | 4);
	function->control[0] = (u32)ANEMONE_ID_MAGIC_VALUE;
	function->control[1] = ANEMONE_ID_MAGIC_VALUE >> 32;
	cm[0] = 2 << 24 | ANEMONE_CXL_CM_ID;
	cm[1] = 0x300 << 20 | 2; /* RAS */
	cm[2] = HDM << 20 | ANEMONE_CXL_HDM_ID;
	cm[HDM / 4] = 1; /* two decoders */
}

static void set_bar(struct pci_dev *pdev, int bar, u64 start, u64 size)
{
	pdev->resource[bar] =
		(struct resource)DEFINE_RES_MEM_NAMED(start, size, "BAR of a function of a test");
}

void function_claim(struct kunit *test, struct function *function)
{
	unsigned int bar;

	for (bar = 0; bar < 6; bar += 2) {
		struct resource *resource = &function->pdev->resource[bar];

		if (!resource->parent)
			KUNIT_ASSERT_EQ(test, request_resource(&region, resource), 0);
	}
}

struct function *function_new(struct kunit *test)
{
	struct pci_host_bridge *bridge = pci_alloc_host_bridge(0);

	KUNIT_ASSERT_NOT_NULL(test, bridge);
	now = kunit_kzalloc(test, sizeof(*now), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, now);
	if (!region.parent)
		KUNIT_ASSERT_EQ(test, logic_iomem_add_region(&region, &region_ops), 0);
	fill(now);
	bridge->ops = &config_ops;
	bridge->busnr = BUS;
	pci_add_resource(&bridge->windows, &bus_numbers);
	KUNIT_ASSERT_EQ(test, pci_scan_root_bus_bridge(bridge), 0);
	now->pdev = pci_get_slot(bridge->bus, PCI_DEVFN(0, 0));
	now->second = pci_get_slot(bridge->bus, PCI_DEVFN(0, 1));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, remove, bridge), 0);
	KUNIT_ASSERT_NOT_NULL(test, now->pdev);
	KUNIT_ASSERT_NOT_NULL(test, now->second);
	set_bar(now->pdev, 0, FUNCTION_CONTROL, SZ_4M);
	set_bar(now->pdev, 2, FUNCTION_LINES, SZ_4M);
	set_bar(now->pdev, 4, FUNCTION_COMPONENT, SZ_128K);
	return now;
}
