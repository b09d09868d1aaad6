// SPDX-License-Identifier: GPL-2.0
#include <linux/mm.h>
#include <linux/uaccess.h>

#include "user_scene.h"

#define TABLE_LOG2 19 /* in pages: all memory of user-mode Linux here */

void user_scene_init_keys(struct kunit *test, struct user_scene *scene, unsigned long some_page,
			  unsigned int shift)
{
	struct mock *mock = mock_new(test);
	u64 pfn = process_pfn(test, some_page);

	*scene = (struct user_scene){ .mock = mock, .filp = process_open(test, mock) };
	/* Key 0 is not used: memory does not begin at 0. */
	KUNIT_ASSERT_LT(test, pfn, 1ULL << TABLE_LOG2);
	mock_tables(test, mock, TABLE_LOG2);
	mock->ctl->hw.shape.address_bits = TABLE_LOG2 + PAGE_SHIFT;
	anemone_memory_set(&mock->ctl->memory, PAGE_SIZE, PAGE_SIZE << TABLE_LOG2);
	scene->add.size = sizeof(scene->add);
	scene->add.spec = mock_hotness(0);
	scene->add.spec.translation.primary.shift = shift;
	if (shift < PAGE_SHIFT) {
		scene->add.spec.filter.start = PFN_PHYS(pfn);
		scene->add.spec.filter.end = PFN_PHYS(pfn + 1);
	}
	scene->add.spec.flags = ANEMONE_SPEC_HOST;
	KUNIT_ASSERT_EQ_MSG(test,
			    process_call(test, scene->filp, ANEMONE_ADD, &scene->add,
					 sizeof(scene->add)),
			    0, "%s", scene->add.reason);
	scene->telemetry = xa_load(&process_file(scene->filp)->telemetries, scene->add.id);
}

void user_scene_init(struct kunit *test, struct user_scene *scene, unsigned long some_page)
{
	user_scene_init_keys(test, scene, some_page, PAGE_SHIFT);
}

long user_scene_map(struct kunit *test, struct user_scene *scene, u64 address, u32 region,
		    u32 flags)
{
	struct anemone_entry entry = { .key = address,
				       .region = region,
				       .flags = ANEMONE_ENTRY_VIRTUAL | flags };
	unsigned long at = process_pages(test, 1);
	struct anemone_map map = {
		.size = sizeof(map), .id = scene->add.id, .entries = at, .count = 1
	};

	process_put(test, at, &entry, sizeof(entry));
	return process_call(test, scene->filp, ANEMONE_MAP, &map, sizeof(map));
}

void user_scene_access(struct kunit *test, struct user_scene *scene, u64 pfn)
{
	mock_access(scene->mock, PFN_PHYS(pfn - 1), false);
}

unsigned int user_scene_entries(struct user_scene *scene)
{
	unsigned int count;

	flush_work(&scene->telemetry->pages.reaper);
	mutex_lock(&scene->telemetry->pages.lock);
	count = scene->telemetry->pages.count;
	mutex_unlock(&scene->telemetry->pages.lock);
	return count;
}

void user_scene_invalidate(struct kunit *test, struct user_scene *scene, unsigned long at,
			   enum mmu_notifier_event event)
{
	struct mmu_notifier_range range;

	mmu_notifier_range_init(&range, event, 0, current->mm, ALIGN_DOWN(at, PMD_SIZE),
				ALIGN_DOWN(at, PMD_SIZE) + PMD_SIZE);
	mmu_notifier_invalidate_range_start(&range);
	KUNIT_EXPECT_EQ(test, scene->telemetry->instance[0].mapped,
			event == MMU_NOTIFY_PROTECTION_VMA);
	mmu_notifier_invalidate_range_end(&range);
}

ssize_t user_scene_read(struct kunit *test, struct user_scene *scene, void *to, size_t bytes)
{
	unsigned long at = process_pages(test, 1);
	ssize_t got = scene->filp->f_op->read(scene->filp, (char __user *)at, bytes, NULL);

	if (got > 0)
		process_get(test, to, at, got);
	return got;
}

void user_scene_report_lost(struct kunit *test, struct user_scene *scene, u32 record)
{
	struct anemone_events events = { .size = sizeof(events),
					 .record = record,
					 .flags = ANEMONE_EVENTS_LOST };

	KUNIT_ASSERT_EQ(test,
			process_call(test, scene->filp, ANEMONE_EVENTS, &events, sizeof(events)),
			0);
	KUNIT_EXPECT_EQ(test, events.known, sizeof(struct anemone_record));
}
