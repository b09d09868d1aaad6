/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fault injection: each call of pci.c to the kernel is a step, and a test chooses the step that
 * fails. See fault_injection_pci.h.
 */
#ifndef ANEMONE_KUNIT_FAULT_INJECTION_H
#define ANEMONE_KUNIT_FAULT_INJECTION_H

#include <linux/types.h>

struct steps {
	unsigned int fails; /* number of the failing step; 0: none */
	unsigned int taken;
	const char *failed;	  /* name of that step */
	unsigned int interrupts;  /* interrupts requested now */
	unsigned int irq_lookups; /* of interrupt numbers, each under a mutex of the kernel */
	unsigned int disabled;	  /* interrupts that were disabled */
};

extern struct steps steps;

static inline bool step_fails(const char *name)
{
	if (++steps.taken != steps.fails)
		return false;
	steps.failed = name;
	return true;
}

#endif
