/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The steps of pci.c, each of which asks the kernel for something and may be refused: a test says
 * which one is. See steps_of_pci.h.
 */
#ifndef ANEMONE_KUNIT_STEPS_H
#define ANEMONE_KUNIT_STEPS_H

#include <linux/types.h>

struct steps {
	unsigned int fails; /* the so manieth; 0: none */
	unsigned int taken;
	const char *failed;	 /* which one did */
	unsigned int interrupts; /* that are requested now */
	unsigned int looked_up;	 /* interrupts' numbers, for which the kernel takes a mutex */
	unsigned int disabled;	 /* interrupts, for good */
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
