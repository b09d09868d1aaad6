/* SPDX-License-Identifier: GPL-2.0 */
/* Where a PCI function has its registers, its telemetry region and its memory. */
#ifndef ANEMONE_DISCOVER_H
#define ANEMONE_DISCOVER_H

#include <linux/pci.h>

#include "spec.h"

struct anemone_resources {
	struct resource control;
	struct resource lines; /* of the host: a BAR, or a part of the device's memory */
	u64 region;	       /* device address of lines.start */
	struct anemone_memory memory;
};

/*
 * By the DVSEC of include/anemone_pci.h; without one, the control BAR is found by its first
 * register, and the region is the end of the device's memory. -ENODEV: it is no Anemone.
 */
int anemone_discover(struct pci_dev *pdev, struct anemone_resources *found);

#endif
