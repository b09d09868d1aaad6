/* SPDX-License-Identifier: GPL-2.0 */
/* CXL's registers of a PCI function, which are only read. */
#ifndef ANEMONE_CXL_H
#define ANEMONE_CXL_H

#include <linux/pci.h>

#include "memory.h"

struct anemone_cxl {
	struct pci_dev *function; /* has the DVSEC; holds a reference */
	int dvsec;		  /* offset of the DVSEC; 0: none */
	bool unresponsive;
	void __iomem *block;	/* the component registers */
	void __iomem *decoders; /* the HDM decoder capability in them; NULL: none */
};

/* Finds the registers of this function, or else of function 0 of its device. */
void anemone_cxl_find(struct pci_dev *pdev, struct anemone_cxl *cxl);
void anemone_cxl_put(struct anemone_cxl *cxl);
/*
 * Where the memory is now, as the kernel commits and releases decoders at any time. A range outside
 * of the CXL windows that the kernel knows, if it knows any, is ignored.
 */
void anemone_cxl_memory(const struct anemone_cxl *cxl, struct anemone_memory *memory);

#endif
