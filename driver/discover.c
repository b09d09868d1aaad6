// SPDX-License-Identifier: GPL-2.0
/* Finds the registers, the telemetry region and the memory of a PCI function. */
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/module.h>

#include "discover.h"
#include "hw.h"
#include "include/anemone_pci.h"
#include "include/anemone_regs.h"

static unsigned long long host_base, host_size, telemetry_base;
static char *host_device = "";
module_param(host_base, ullong, 0444);
MODULE_PARM_DESC(host_base,
		 "host address of the device's memory, if CXL's registers do not have it");
module_param(host_size, ullong, 0444);
MODULE_PARM_DESC(host_size, "size of that memory in bytes");
module_param(host_device, charp, 0444);
MODULE_PARM_DESC(host_device,
		 "PCI address of that device (default: the first that needs host_base)");
module_param(telemetry_base, ullong, 0444);
MODULE_PARM_DESC(telemetry_base,
		 "device address of a telemetry region in memory (default: the memory's end)");

static u64 anemone_discover_config_read64(struct pci_dev *pdev, int high, int low)
{
	u32 upper = 0, lower = 0;

	pci_read_config_dword(pdev, high, &upper);
	pci_read_config_dword(pdev, low, &lower);
	return (u64)upper << 32 | lower;
}

/*
 * Whether host_base describes this device. Binding does not change what is at that address, so the
 * first device that asks keeps it until the module is unloaded.
 */
static bool anemone_is_host_device(struct pci_dev *pdev)
{
	static u64 first;
	u64 address = 1ULL << 63 | (u64)pci_domain_nr(pdev->bus) << 16 | pci_dev_id(pdev), owner;

	if (*host_device)
		return sysfs_streq(host_device, pci_name(pdev));
	owner = cmpxchg64(&first, 0, address);
	return !owner || owner == address;
}

void anemone_discover_memory(struct pci_dev *pdev, const struct anemone_cxl *cxl,
			     struct anemone_memory *memory)
{
	anemone_cxl_memory(cxl, memory);
	if (memory->ranges || !host_size)
		return;
	if (anemone_is_host_device(pdev))
		anemone_memory_set(memory, host_base, host_size);
	else
		anemone_memory_clear(memory, "host_base is another device's, see host_device");
}

static bool anemone_is_control_bar(struct pci_dev *pdev, int bar)
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

/* The loads that read the region fault on an address that is not line-aligned. */
static int anemone_check_region_alignment(struct pci_dev *pdev,
					  const struct anemone_resources *found)
{
	if (IS_ALIGNED(found->lines.start | found->region, ANEMONE_LINE_BYTES))
		return 0;
	pci_err(pdev, "telemetry region %#llx at %pR begins amid a line\n", found->region,
		&found->lines);
	return -ENODEV;
}

/* Finds a region in the device's memory: at `base`, or at the memory's end if no base is given. */
static int anemone_find_region_in_memory(struct pci_dev *pdev, u64 base, u64 bytes,
					 struct anemone_resources *found)
{
	const struct anemone_range *range = &found->memory.range[0];
	u64 offset;

	if (!found->memory.ranges) {
		pci_err(pdev, "where is its memory? %s; set host_base and host_size\n",
			found->memory.unknown);
		return -ENODEV;
	}
	if (range->ways != 1) {
		pci_err(pdev, "its memory is interleaved: no telemetry region can be in it\n");
		return -EOPNOTSUPP;
	}
	base = telemetry_base ?: base;
	offset = base ? base - range->device_base : range->size - bytes;
	if (!bytes || range->size < bytes || offset > range->size - bytes) {
		pci_err(pdev, "no telemetry region of %#llx at %#llx in memory of %#llx\n", bytes,
			base, range->size);
		return -ENODEV;
	}
	found->in_memory = true;
	found->region = range->device_base + offset;
	/* Before Linux 6.2 DEFINE_RES_MEM_NAMED works only in an initialiser. */
	found->lines = (struct resource){ .start = range->host_base + offset,
					  .end = range->host_base + offset + bytes - 1,
					  .name = "anemone telemetry",
					  .flags = IORESOURCE_MEM };
	if (region_intersects(found->lines.start, bytes, IORESOURCE_SYSTEM_RAM, IORES_DESC_NONE) !=
	    REGION_DISJOINT) {
		pci_err(pdev, "%pR is in use as memory: keep it out with memmap=%llu$%#llx\n",
			&found->lines, bytes, (u64)found->lines.start);
		return -EBUSY;
	}
	return anemone_check_region_alignment(pdev, found);
}

bool anemone_discover_region_is_current(const struct anemone_resources *found,
					const struct anemone_memory *memory)
{
	const struct anemone_range *range = &memory->range[0];
	u64 offset = found->lines.start - range->host_base;

	return memory->ranges && range->ways == 1 && offset < range->size &&
	       resource_size(&found->lines) <= range->size - offset &&
	       range->device_base + offset == found->region;
}

static int anemone_discover_by_dvsec(struct pci_dev *pdev, int at, struct anemone_resources *found)
{
	u64 base = anemone_discover_config_read64(pdev, at + ANEMONE_DVSEC_TELEMETRY_BASE + 4,
						  at + ANEMONE_DVSEC_TELEMETRY_BASE);
	u64 bytes = anemone_discover_config_read64(pdev, at + ANEMONE_DVSEC_TELEMETRY_SIZE + 4,
						   at + ANEMONE_DVSEC_TELEMETRY_SIZE);
	u8 control, lines;

	pci_read_config_byte(pdev, at + ANEMONE_DVSEC_CONTROL_BAR, &control);
	pci_read_config_byte(pdev, at + ANEMONE_DVSEC_TELEMETRY_BAR, &lines);
	if (control >= PCI_STD_NUM_BARS || !anemone_is_control_bar(pdev, control))
		return -ENODEV;
	found->control = pdev->resource[control];
	if (lines == ANEMONE_DVSEC_IN_MEMORY)
		return anemone_find_region_in_memory(pdev, base, bytes, found);
	if (lines >= PCI_STD_NUM_BARS || !(pci_resource_flags(pdev, lines) & IORESOURCE_MEM))
		return -ENODEV;
	found->lines = pdev->resource[lines];
	found->region = base;
	return anemone_check_region_alignment(pdev, found);
}

static int anemone_find_dvsec(struct pci_dev *pdev)
{
	return pci_find_dvsec_capability(pdev, ANEMONE_PCI_VENDOR, ANEMONE_DVSEC_ID);
}

bool anemone_discover_is_anemone(struct pci_dev *pdev, const struct pci_device_id *id)
{
	return id->vendor != ANEMONE_PCI_VENDOR || id->device != ANEMONE_PCI_DEVICE ||
	       anemone_find_dvsec(pdev);
}

int anemone_discover(struct pci_dev *pdev, const struct anemone_cxl *cxl,
		     struct anemone_resources *found)
{
	int at = anemone_find_dvsec(pdev);
	int bar;

	anemone_discover_memory(pdev, cxl, &found->memory);
	if (at)
		return anemone_discover_by_dvsec(pdev, at, found);
	for (bar = 0; bar < PCI_STD_NUM_BARS; bar++) {
		if (anemone_is_control_bar(pdev, bar)) {
			found->control = pdev->resource[bar];
			return anemone_find_region_in_memory(pdev, 0, 2 * SZ_8M, found);
		}
	}
	return -ENODEV;
}
