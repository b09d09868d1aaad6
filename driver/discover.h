/* SPDX-License-Identifier: GPL-2.0 */
/* The registers, the telemetry region and the memory of a PCI function. */
#ifndef ANEMONE_DISCOVER_H
#define ANEMONE_DISCOVER_H

#include <linux/pci.h>

#include "cxl.h"
#include "memory.h"

struct anemone_resources {
	struct resource control;
	struct resource lines; /* host addresses: a BAR, or some of the device's memory */
	u64 region;	       /* device address of lines.start */
	bool in_memory;	       /* lines are not in a BAR */
	struct anemone_memory memory;
};

/*
 * Whether the function may be probed. The driver's own id belongs to no vendor, so such a function
 * needs the DVSEC of include/anemone_pci.h, too. Any other id was added by the administrator
 * (new_id).
 */
bool anemone_discover_is_anemone(struct pci_dev *pdev, const struct pci_device_id *id);
/*
 * Uses this DVSEC. Without one, the control BAR is the one that begins with the register `id`, and
 * the region is the end of the device's memory. -ENODEV: not an Anemone.
 */
int anemone_discover(struct pci_dev *pdev, const struct anemone_cxl *cxl,
		     struct anemone_resources *found);
/* Whether a region in memory is still where it was found, by the memory's current ranges. */
bool anemone_discover_region_is_current(const struct anemone_resources *found,
					const struct anemone_memory *memory);
/*
 * Finds the memory by CXL's registers, or else by the module's parameters. These describe one
 * device: host_device, or the first that needs them.
 */
void anemone_discover_memory(struct pci_dev *pdev, const struct anemone_cxl *cxl,
			     struct anemone_memory *memory);

#endif
