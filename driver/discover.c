// SPDX-License-Identifier: GPL-2.0
/* Discovery of what a PCI function has where. */
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/module.h>

#include "discover.h"
#include "include/anemone_pci.h"

static unsigned long long host_base, host_size, telemetry_base;
module_param(host_base, ullong, 0444);
MODULE_PARM_DESC(host_base,
		 "host address of the device's memory, where CXL's registers do not say");
module_param(host_size, ullong, 0444);
MODULE_PARM_DESC(host_size, "and its bytes");
module_param(telemetry_base, ullong, 0444);
MODULE_PARM_DESC(telemetry_base, "device address of a telemetry region in memory (its end)");

static u64 config_pair(struct pci_dev *pdev, int high, int low)
{
	u32 upper = 0, lower = 0;

	pci_read_config_dword(pdev, high, &upper);
	pci_read_config_dword(pdev, low, &lower);
	return (u64)upper << 32 | lower;
}

/* Range 1 of CXL's DVSEC, on this function or on the first one of the device. */
static void find_memory(struct pci_dev *pdev, struct anemone_memory *memory)
{
	struct pci_dev *first = pci_get_slot(pdev->bus, PCI_DEVFN(PCI_SLOT(pdev->devfn), 0));
	struct pci_dev *functions[] = { pdev, first };
	unsigned int i;

	*memory = (struct anemone_memory){};
	for (i = 0; i < ARRAY_SIZE(functions) && !memory->size; i++) {
		int at = functions[i] ? pci_find_dvsec_capability(functions[i], ANEMONE_CXL_VENDOR,
								  ANEMONE_CXL_DEVICE_DVSEC)
				      : 0;

		if (!at)
			continue;
		/* The low 28 bits are flags. */
		memory->size = config_pair(functions[i], at + ANEMONE_CXL_RANGE1_SIZE_HIGH,
					   at + ANEMONE_CXL_RANGE1_SIZE_LOW) &
			       ~(SZ_256M - 1ULL);
		memory->host_base = config_pair(functions[i], at + ANEMONE_CXL_RANGE1_BASE_HIGH,
						at + ANEMONE_CXL_RANGE1_BASE_LOW) &
				    ~(SZ_256M - 1ULL);
	}
	pci_dev_put(first);
	if (!memory->size)
		*memory = (struct anemone_memory){ .host_base = host_base, .size = host_size };
}

static bool is_control(struct pci_dev *pdev, int bar)
{
	void __iomem *registers;
	u64 id;

	if (!(pci_resource_flags(pdev, bar) & IORESOURCE_MEM) ||
	    pci_resource_len(pdev, bar) <= ANEMONE_TABLE(0))
		return false;
	registers = pci_iomap(pdev, bar, PAGE_SIZE);
	if (!registers)
		return false;
	id = readq(registers + ANEMONE_ID);
	pci_iounmap(pdev, registers);
	return id == ANEMONE_ID_MAGIC_VALUE;
}

/* In memory: the last two windows of it, unless it is said where. */
static int region_in_memory(struct pci_dev *pdev, struct anemone_resources *found)
{
	u64 bytes = 2 * SZ_8M;

	if (!found->memory.size) {
		pci_err(pdev, "where is its memory? Set host_base and host_size\n");
		return -ENODEV;
	}
	found->region = telemetry_base ?: found->memory.size - bytes;
	/* Before Linux 6.2 DEFINE_RES_MEM_NAMED is of an initialiser only. */
	found->lines =
		(struct resource){ .start = found->memory.host_base + found->region,
				   .end = found->memory.host_base + found->region + bytes - 1,
				   .name = "anemone telemetry",
				   .flags = IORESOURCE_MEM };
	if (region_intersects(found->lines.start, bytes, IORESOURCE_SYSTEM_RAM, IORES_DESC_NONE) !=
	    REGION_DISJOINT) {
		pci_err(pdev, "%pR is in use as memory: keep it out with memmap=%llu$%#llx\n",
			&found->lines, bytes, (u64)found->lines.start);
		return -EBUSY;
	}
	return 0;
}

static int by_dvsec(struct pci_dev *pdev, int at, struct anemone_resources *found)
{
	u8 control, lines;

	pci_read_config_byte(pdev, at + ANEMONE_DVSEC_CONTROL_BAR, &control);
	pci_read_config_byte(pdev, at + ANEMONE_DVSEC_TELEMETRY_BAR, &lines);
	if (control >= PCI_STD_NUM_BARS || !is_control(pdev, control))
		return -ENODEV;
	found->control = pdev->resource[control];
	if (lines == ANEMONE_DVSEC_IN_MEMORY)
		return region_in_memory(pdev, found);
	if (lines >= PCI_STD_NUM_BARS || !(pci_resource_flags(pdev, lines) & IORESOURCE_MEM))
		return -ENODEV;
	found->lines = pdev->resource[lines];
	found->region = config_pair(pdev, at + ANEMONE_DVSEC_TELEMETRY_BASE + 4,
				    at + ANEMONE_DVSEC_TELEMETRY_BASE);
	return 0;
}

int anemone_discover(struct pci_dev *pdev, struct anemone_resources *found)
{
	int at = pci_find_dvsec_capability(pdev, ANEMONE_PCI_VENDOR, ANEMONE_DVSEC_ID);
	int bar;

	find_memory(pdev, &found->memory);
	if (at)
		return by_dvsec(pdev, at, found);
	for (bar = 0; bar < PCI_STD_NUM_BARS; bar++) {
		if (is_control(pdev, bar)) {
			found->control = pdev->resource[bar];
			return region_in_memory(pdev, found);
		}
	}
	return -ENODEV;
}
