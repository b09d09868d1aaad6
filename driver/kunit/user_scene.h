/* SPDX-License-Identifier: GPL-2.0 */
/* A process with a telemetry that counts accesses to its pages. */
#ifndef ANEMONE_KUNIT_USER_SCENE_H
#define ANEMONE_KUNIT_USER_SCENE_H

#include <linux/mmu_notifier.h>

#include "process.h"

struct user_scene {
	struct mock *mock;
	struct file *filp;
	struct anemone_telemetry *telemetry;
	struct anemone_add add;
};

/*
 * Sets up keys of 4 KiB, or of 1 << shift bytes around `some_page`. The device has all memory of
 * this machine that the table can name.
 */
void user_scene_init(struct kunit *test, struct user_scene *scene, unsigned long some_page);
void user_scene_init_keys(struct kunit *test, struct user_scene *scene, unsigned long some_page,
			  unsigned int shift);
/* ANEMONE_MAP of one address. */
long user_scene_map(struct kunit *test, struct user_scene *scene, u64 address, u32 region,
		    u32 flags);
/* An access to a host page, as the device sees it. */
void user_scene_access(struct kunit *test, struct user_scene *scene, u64 pfn);
/* Number of pages that have an entry, or that the reaper has not handled yet. */
unsigned int user_scene_entries(struct user_scene *scene);
/* Invalidates the 2 MiB around, and checks that the entry is gone meanwhile, if it must go. */
void user_scene_invalidate(struct kunit *test, struct user_scene *scene, unsigned long at,
			   enum mmu_notifier_event event);
/* Reads records of so many bytes; asks for lost entries, in records of that size. */
ssize_t user_scene_read(struct kunit *test, struct user_scene *scene, void *to, size_t bytes);
void user_scene_report_lost(struct kunit *test, struct user_scene *scene, u32 record);

#endif
