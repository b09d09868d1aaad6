/* SPDX-License-Identifier: GPL-2.0 */
/* A process with a telemetry that counts its own pages. */
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
 * Keys of 4 KiB, or of 1 << shift bytes about `some_page`; all memory of this machine is the
 * device's, the table's part too.
 */
void own_set(struct kunit *test, struct own_scene *scene, unsigned long some_page);
void own_set_keys(struct kunit *test, struct own_scene *scene, unsigned long some_page,
		  unsigned int shift);
/* ANEMONE_MAP of one address. */
long own_map(struct kunit *test, struct own_scene *scene, u64 address, u32 region, u32 flags);
/* An access to the host's page, as the device sees it. */
void own_touch(struct kunit *test, struct own_scene *scene, u64 pfn);
/* Pages that have an entry, or had one of which the reaper does not know yet. */
unsigned int own_entries(struct own_scene *scene);
/* The 2 MiB around are invalidated, and the entry is gone meanwhile if it has to be. */
void own_invalidated(struct kunit *test, struct own_scene *scene, unsigned long at,
		     enum mmu_notifier_event event);
/* Of what is told, so many bytes; and that losses shall be, by records of that size. */
ssize_t own_records(struct kunit *test, struct own_scene *scene, void *to, size_t bytes);
void own_ask_for_losses(struct kunit *test, struct own_scene *scene, u32 record);

#endif
