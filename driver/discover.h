/* SPDX-License-Identifier: GPL-2.0 */
/* Where a PCI function has its registers, its telemetry region and its memory. */
#ifndef ANEMONE_DISCOVER_H
#define ANEMONE_DISCOVER_H

#include <linux/pci.h>

#include "cxl.h"
#include "memory.h"

struct anemone_resources {
	struct resource control;
	struct resource lines; /* of the host: a BAR, or a part of the device's memory */
	u64 region;	       /* device address of lines.start */
	bool in_memory;	       /* lines are no BAR */
	struct anemone_memory memory;
};

/*
 * Whether it may be looked at. The driver's own id is no vendor's: who has it needs the DVSEC of
 * include/anemone_pci.h, too. By any other id it was named by who knows it (new_id).
 */
bool anemone_discover_is_anemone(struct pci_dev *pdev, const struct pci_device_id *id);
/*
 * By this DVSEC; without one, the control BAR is found by its first register, and the region is
 * the end of the device's memory. -ENODEV: it is no Anemone.
 */
int anemone_discover(struct pci_dev *pdev, const struct anemone_cxl *cxl,
		     struct anemone_resources *found);
/* Whether lines in memory are where they were found, by what is known of the memory now. */
bool anemone_discover_region_is_current(const struct anemone_resources *found,
					const struct anemone_memory *memory);
/*
 * Where the memory is now, by CXL's registers or the module's parameters, which are of one device:
 * host_device, or the first that needs them.
 */
void anemone_discover_memory(struct pci_dev *pdev, const struct anemone_cxl *cxl,
			     struct anemone_memory *memory);

#endif
