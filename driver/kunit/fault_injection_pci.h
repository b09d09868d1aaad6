/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Included before pci.c's own lines (Kbuild): makes each of its calls to the kernel a step that can
 * fail. A step that does not fail calls the kernel. Interrupts are only counted, because user-mode
 * Linux has no message-signalled ones.
 */
#ifndef ANEMONE_KUNIT_FAULT_INJECTION_PCI_H
#define ANEMONE_KUNIT_FAULT_INJECTION_PCI_H

#include <linux/gfp.h>
#include <linux/idr.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/miscdevice.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include "fault_injection.h"

/* Makes the call, or returns `failure` without it. */
#define STEP(call, failure) (step_fails(#call) ? (failure) : (call))

static inline void *step_devm_kzalloc(struct device *dev, size_t size, gfp_t flags)
{
	return STEP(devm_kzalloc(dev, size, flags), NULL);
}

static inline void *step_devm_kcalloc(struct device *dev, size_t count, size_t size, gfp_t flags)
{
	return STEP(devm_kcalloc(dev, count, size, flags), NULL);
}

static inline void *step_kzalloc(size_t size, gfp_t flags)
{
	return STEP(kzalloc(size, flags), NULL);
}

static inline unsigned long step_free_page(gfp_t flags)
{
	return STEP(__get_free_page(flags), 0);
}

static inline int step_ida_alloc(struct ida *ida, gfp_t flags)
{
	return STEP(ida_alloc(ida, flags), -ENOSPC);
}

static inline int step_enable(struct pci_dev *pdev)
{
	return STEP(pcim_enable_device(pdev), -EIO);
}

/* If the kernel cannot keep the action, it runs it at once. */
static inline int step_action(struct device *dev, void (*action)(void *), void *data)
{
	if (!step_fails("devm_add_action_or_reset(dev, action, data)"))
		return devm_add_action_or_reset(dev, action, data);
	action(data);
	return -ENOMEM;
}

static inline struct resource *step_request(struct device *dev, resource_size_t start,
					    resource_size_t size, const char *name)
{
	return STEP(devm_request_mem_region(dev, start, size, name), NULL);
}

static inline void __iomem *step_ioremap(struct device *dev, resource_size_t start,
					 resource_size_t size)
{
	return STEP(devm_ioremap(dev, start, size), NULL);
}

static inline void __iomem *step_ioremap_wc(struct device *dev, resource_size_t start,
					    resource_size_t size)
{
	return STEP(devm_ioremap_wc(dev, start, size), NULL);
}

static inline int step_vectors(struct pci_dev *pdev, unsigned int least, unsigned int limit,
			       unsigned int flags)
{
	return step_fails("pci_alloc_irq_vectors") ? -ENOSPC : (int)limit;
}

static inline void step_free_irq(void *unused)
{
	steps.interrupts--;
}

static inline int step_request_irq(struct device *dev)
{
	if (step_fails("devm_request_threaded_irq"))
		return -EBUSY;
	steps.interrupts++;
	return devm_add_action_or_reset(dev, step_free_irq, NULL);
}

/* Numbers from 100 on, which this machine does not use. */
static inline int step_irq(unsigned int vector)
{
	steps.irq_lookups++;
	return 100 + vector;
}

static inline void step_disable_irq(unsigned int irq)
{
	if (irq == 100 + steps.disabled)
		steps.disabled++;
}

static inline int step_misc(struct miscdevice *misc)
{
	return STEP(misc_register(misc), -EBUSY);
}

#undef kzalloc
#undef __get_free_page
#undef devm_add_action_or_reset
#undef devm_request_mem_region
#define devm_kzalloc step_devm_kzalloc
#define devm_kcalloc step_devm_kcalloc
#define kzalloc step_kzalloc
#define __get_free_page step_free_page
#define ida_alloc step_ida_alloc
#define pcim_enable_device step_enable
#define devm_add_action_or_reset step_action
#define devm_request_mem_region step_request
#define devm_ioremap step_ioremap
#define devm_ioremap_wc step_ioremap_wc
#define pci_alloc_irq_vectors step_vectors
#define pci_irq_vector(pdev, i) ((void)(pdev), step_irq(i))
#define disable_irq_nosync step_disable_irq
#define devm_request_threaded_irq(dev, irq, handler, thread, ...)                                  \
	((void)(irq), (void)(handler), (void)(thread), step_request_irq(dev))
#define misc_register step_misc
/* mock.c defines it for devices that are not on PCI. */
#define anemone_of_device anemone_of_pci_device

#endif
