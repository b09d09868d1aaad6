/* SPDX-License-Identifier: GPL-2.0 */
/* CXL's registers of a PCI function: read, never written. */
#ifndef ANEMONE_CXL_H
#define ANEMONE_CXL_H

#include <linux/pci.h>

#include "memory.h"

struct anemone_cxl {
	struct pci_dev *function; /* that has the DVSEC; holds a reference */
	int dvsec;		  /* 0: there is none */
	bool unresponsive;
	void __iomem *block;	/* the component registers */
	void __iomem *decoders; /* of them the HDM decoder capability; NULL: there is none */
};

/* This function's registers, or those of the first one of its device. */
void anemone_cxl_find(struct pci_dev *pdev, struct anemone_cxl *cxl);
void anemone_cxl_put(struct anemone_cxl *cxl);
/*
 * Where the memory is now: decoders are committed and taken back while Linux runs. Outside of the
 * windows that the kernel's own CXL core knows, if it knows any, it is nobody's word.
 */
void anemone_cxl_memory(const struct anemone_cxl *cxl, struct anemone_memory *memory);

#endif
