/* SPDX-License-Identifier: GPL-2.0 */
/* A process with a telemetry that counts accesses to its pages. */
#ifndef ANEMONE_KUNIT_OWN_PAGES_H
#define ANEMONE_KUNIT_OWN_PAGES_H

#include <linux/mmu_notifier.h>

#include "process.h"

struct own_scene {
	struct mock *mock;
	struct file *filp;
	struct anemone_telemetry *telemetry;
	struct anemone_add add;
};

/*
 * Sets up keys of 4 KiB, or of 1 << shift bytes around `some_page`. The device has all memory of
 * this machine that the table can name.
 */
void own_set(struct kunit *test, struct own_scene *scene, unsigned long some_page);
void own_set_keys(struct kunit *test, struct own_scene *scene, unsigned long some_page,
		  unsigned int shift);
/* ANEMONE_MAP of one address. */
long own_map(struct kunit *test, struct own_scene *scene, u64 address, u32 region, u32 flags);
/* An access to a host page, as the device sees it. */
void own_touch(struct kunit *test, struct own_scene *scene, u64 pfn);
/* Number of pages that have an entry, or that the reaper has not handled yet. */
unsigned int own_entries(struct own_scene *scene);
/* Invalidates the 2 MiB around, and checks that the entry is gone meanwhile, if it must go. */
void own_invalidated(struct kunit *test, struct own_scene *scene, unsigned long at,
		     enum mmu_notifier_event event);
/* Reads records of so many bytes; asks for lost entries, in records of that size. */
ssize_t own_records(struct kunit *test, struct own_scene *scene, void *to, size_t bytes);
void own_ask_for_losses(struct kunit *test, struct own_scene *scene, u32 record);

#endif
