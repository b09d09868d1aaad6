/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A PCI function for tests, on its own bus. Its configuration space, the first page of its control
 * registers (BAR 0) and its component registers (BAR 4) are plain memory.
 */
#ifndef ANEMONE_KUNIT_FUNCTION_H
#define ANEMONE_KUNIT_FUNCTION_H

#include <kunit/test.h>
#include <linux/pci.h>

/* Host addresses of the BARs: control registers, telemetry region, component registers. */
#define FUNCTION_CONTROL 0x40000000000ULL
#define FUNCTION_LINES (FUNCTION_CONTROL + SZ_16M)
#define FUNCTION_COMPONENT (FUNCTION_CONTROL + SZ_32M)

/* Extended capabilities, each a DVSEC, in configuration space. */
#define FUNCTION_OURS 0x100
#define FUNCTION_CXL 0x140
#define FUNCTION_LOCATOR 0x180

struct function {
	u32 config[2][PCI_CFG_SPACE_EXP_SIZE / 4]; /* of functions 0 and 1 */
	u32 control[4];				   /* the first registers of BAR 0 */
	u32 component[0x2000 / 4];		   /* BAR 4, from 64 KiB on */
	struct pci_dev *pdev;			   /* function 0 */
	struct pci_dev *second;
};

/*
 * A complete Anemone: our DVSEC, CXL's DVSEC with Mem_Enable and a range of 1 GiB at FUNCTION_HOST,
 * and component registers whose HDM decoders are disabled. Function 1 has none of these. It is
 * freed with the test.
 */
#define FUNCTION_HOST 0x4000000000ULL
struct function *function_new(struct kunit *test);
/* Claims the addresses of its BARs, as below a bridge's window, so that it can be enabled. */
void function_claim(struct kunit *test, struct function *function);
/* Sets a 32-bit word of function 0's configuration space, or a 64-bit pair of CXL's ranges. */
void function_set(struct function *function, int at, u32 value);
void function_set_range(struct function *function, unsigned int i, u64 base, u64 size);
/* Sets a decoder of the HDM decoder capability, and enables the decoders. */
void function_set_decoder(struct function *function, unsigned int i, u64 base, u64 size,
			  u32 control);

#endif
