// SPDX-License-Identifier: GPL-2.0
/*
 * CXL's registers (CXL 3.1, 8.1.3, 8.1.9, 8.2.4).
 *
 * The kernel's decoder structures are private to drivers/cxl, so this reads what the kernel
 * committed: the device's decoders, and the windows in the resource tree.
 */
#include <linux/io.h>
#include <linux/ioport.h>

#include "cxl.h"
#include "include/anemone_pci.h"

static u32 anemone_cxl_config_read(const struct anemone_cxl *cxl, int at)
{
	u32 value = 0;

	pci_read_config_dword(cxl->function, at, &value);
	return value;
}

static u64 anemone_cxl_config_read64(const struct anemone_cxl *cxl, int high, int low)
{
	return (u64)anemone_cxl_config_read(cxl, cxl->dvsec + high) << 32 |
	       anemone_cxl_config_read(cxl, cxl->dvsec + low);
}

static u64 anemone_cxl_read64(const void __iomem *low)
{
	return (u64)readl(low + 4) << 32 | readl(low);
}

/* Returns NULL if there are none. */
static void __iomem *anemone_cxl_find_decoders(struct anemone_cxl *cxl)
{
	void __iomem *cm = cxl->block + ANEMONE_CXL_CACHEMEM;
	u32 header = readl(cm);
	unsigned int i, count = header >> 24;

	cxl->unresponsive = (header & 0xffff) != ANEMONE_CXL_CM_ID;
	for (i = 1; i <= count && !cxl->unresponsive; i++) {
		header = readl(cm + 4 * i);
		/* The pointer has twelve bits, so it stays within the block. */
		if ((header & 0xffff) == ANEMONE_CXL_HDM_ID)
			return cm + (header >> 20);
	}
	return NULL;
}

static void anemone_cxl_find_component(struct anemone_cxl *cxl)
{
	int at = pci_find_dvsec_capability(cxl->function, ANEMONE_CXL_VENDOR,
					   ANEMONE_CXL_LOCATOR_DVSEC);
	u32 length = at ? anemone_cxl_config_read(cxl, at + 4) >> 20 : 0, entry;

	for (entry = ANEMONE_CXL_LOCATOR_FIRST; entry + 8 <= length; entry += 8) {
		u32 low = anemone_cxl_config_read(cxl, at + entry);
		unsigned int bar = low & 7;
		u64 offset = (u64)anemone_cxl_config_read(cxl, at + entry + 4) << 32 |
			     (low & 0xffff0000);

		if ((low >> 8 & 0xff) != ANEMONE_CXL_BLOCK_COMPONENT)
			continue;
		cxl->unresponsive = true;
		if (bar < PCI_STD_NUM_BARS &&
		    pci_resource_len(cxl->function, bar) >= ANEMONE_CXL_COMPONENT_BYTES &&
		    offset <= pci_resource_len(cxl->function, bar) - ANEMONE_CXL_COMPONENT_BYTES)
			cxl->block = ioremap(pci_resource_start(cxl->function, bar) + offset,
					     ANEMONE_CXL_COMPONENT_BYTES);
		if (cxl->block)
			cxl->decoders = anemone_cxl_find_decoders(cxl);
		return;
	}
}

void anemone_cxl_find(struct pci_dev *pdev, struct anemone_cxl *cxl)
{
	struct pci_dev *functions[] = {
		pci_dev_get(pdev),
		pci_get_slot(pdev->bus, PCI_DEVFN(PCI_SLOT(pdev->devfn), 0)),
	};
	unsigned int i;

	*cxl = (struct anemone_cxl){};
	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		int at = functions[i] && !cxl->dvsec
				 ? pci_find_dvsec_capability(functions[i], ANEMONE_CXL_VENDOR,
							     ANEMONE_CXL_DEVICE_DVSEC)
				 : 0;

		if (at) {
			cxl->function = functions[i];
			cxl->dvsec = at;
		} else {
			pci_dev_put(functions[i]);
		}
	}
	if (cxl->dvsec)
		anemone_cxl_find_component(cxl);
}

void anemone_cxl_put(struct anemone_cxl *cxl)
{
	if (cxl->block)
		iounmap(cxl->block);
	pci_dev_put(cxl->function);
}

static void anemone_cxl_read_decoders(const struct anemone_cxl *cxl,
				      struct anemone_cxl_registers *registers)
{
	u32 count = readl(cxl->decoders) & 0xf;
	unsigned int i;

	registers->decoders_enabled = readl(cxl->decoders + 4) & ANEMONE_CXL_HDM_ENABLE;
	registers->decoders = min_t(u32, count ? 2 * count : 1, ANEMONE_MAX_RANGES);
	for (i = 0; i < registers->decoders; i++) {
		const void __iomem *at = cxl->decoders + ANEMONE_CXL_DECODER(i);

		registers->decoder[i].base = anemone_cxl_read64(at);
		registers->decoder[i].size = anemone_cxl_read64(at + 8);
		registers->decoder[i].control = readl(at + 0x10);
		registers->decoder[i].skip = anemone_cxl_read64(at + 0x14);
	}
	/* A function whose memory space is disabled reads as all ones. */
	registers->unresponsive |= registers->decoder[0].control == ~0U;
}

struct anemone_cxl_windows {
	const struct anemone_range *range;
	bool any, within;
};

static int anemone_cxl_match_window(struct resource *window, void *data)
{
	struct anemone_cxl_windows *windows = data;
	u64 start = windows->range->host_base;

	windows->any = true;
	windows->within |= window->start <= start &&
			   start + windows->range->size - 1 <= window->end;
	return 0;
}

static bool anemone_cxl_outside_windows(const struct anemone_range *range)
{
	struct anemone_cxl_windows windows = { .range = range };

	walk_iomem_res_desc(IORES_DESC_CXL, IORESOURCE_MEM, 0, ~0ULL, &windows,
			    anemone_cxl_match_window);
	return windows.any && !windows.within;
}

void anemone_cxl_memory(const struct anemone_cxl *cxl, struct anemone_memory *memory)
{
	struct anemone_cxl_registers registers = { .found = cxl->dvsec,
						   .unresponsive = cxl->unresponsive };
	unsigned int i;

	if (cxl->dvsec) {
		u32 word = anemone_cxl_config_read(cxl, cxl->dvsec + ANEMONE_CXL_CAPABILITY - 2);

		registers.capability = word >> 16;
		registers.control = anemone_cxl_config_read(cxl, cxl->dvsec + ANEMONE_CXL_CONTROL);
		for (i = 0; i < ARRAY_SIZE(registers.range_size); i++) {
			registers.range_size[i] =
				anemone_cxl_config_read64(cxl, ANEMONE_CXL_RANGE_SIZE_HIGH(i),
							  ANEMONE_CXL_RANGE_SIZE_LOW(i));
			registers.range_base[i] =
				anemone_cxl_config_read64(cxl, ANEMONE_CXL_RANGE_BASE_HIGH(i),
							  ANEMONE_CXL_RANGE_BASE_LOW(i));
		}
	}
	if (cxl->decoders)
		anemone_cxl_read_decoders(cxl, &registers);
	anemone_memory_decode(&registers, memory);
	for (i = 0; i < memory->ranges; i++)
		if (anemone_cxl_outside_windows(&memory->range[i]))
			return anemone_memory_clear(memory, "it is in no CXL window of the host");
}
