// SPDX-License-Identifier: GPL-2.0
/* Entries for user pages that stay: a page that does not move keeps its entry. */
#include <linux/mm.h>

#include "../user_pages.h"
#include "../rotate.h"
#include "user_scene.h"

/*
 * To split a mapping, the kernel invalidates 2 MiB. Pages that did not move are counted again,
 * without a lost event. A page that another process maps by now is not.
 */
static void counted_if_not_moved(struct kunit *test)
{
	static const enum mmu_notifier_event kinds[] = {
		MMU_NOTIFY_CLEAR,
		MMU_NOTIFY_PROTECTION_VMA,
		MMU_NOTIFY_PROTECTION_PAGE,
	};
	unsigned long at = process_pages(test, 1);
	u64 pfn = process_pfn(test, at), value;
	struct anemone_record record;
	struct user_scene scene;
	unsigned int i;

	user_scene_init(test, &scene, at);
	user_scene_report_lost(test, &scene, sizeof(record));
	KUNIT_ASSERT_EQ(test, user_scene_map(test, &scene, at, 3, 0), 0);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		user_scene_invalidate(test, &scene, at, kinds[i]);
		KUNIT_EXPECT_EQ(test, user_scene_entries(&scene), 1);
		user_scene_access(test, &scene, pfn);
		KUNIT_ASSERT_EQ(test, anemone_snapshot(scene.telemetry, 3, 1, &value), 0);
		KUNIT_EXPECT_EQ(test, value, i + 1);
	}
	KUNIT_EXPECT_EQ(test, user_scene_read(test, &scene, &record, sizeof(record)), -EAGAIN);
	ClearPageAnonExclusive(pfn_to_page(pfn)); /* as after a fork */
	user_scene_invalidate(test, &scene, at, MMU_NOTIFY_CLEAR);
	KUNIT_EXPECT_EQ(test, user_scene_entries(&scene), 0);
	user_scene_access(test, &scene, pfn);
	KUNIT_ASSERT_EQ(test, anemone_snapshot(scene.telemetry, 3, 1, &value), 0);
	KUNIT_EXPECT_EQ(test, value, i);
	KUNIT_EXPECT_EQ(test, user_scene_read(test, &scene, &record, sizeof(record)),
			sizeof(record));
	SetPageAnonExclusive(pfn_to_page(pfn));
}

/* The kernel splits a mapping, then unmaps some of it; new memory there is not counted. */
static void split_and_unmapped(struct kunit *test)
{
	unsigned long at = process_pages(test, 1);
	struct user_scene scene;

	user_scene_init(test, &scene, at);
	KUNIT_ASSERT_EQ(test, user_scene_map(test, &scene, at, 3, 0), 0);
	mutex_lock(&scene.telemetry->pages.lock); /* makes the reaper wait */
	user_scene_invalidate(test, &scene, at, MMU_NOTIFY_CLEAR);
	user_scene_invalidate(test, &scene, at, MMU_NOTIFY_UNMAP); /* the entry is still there */
	mutex_unlock(&scene.telemetry->pages.lock);
	KUNIT_EXPECT_EQ(test, user_scene_entries(&scene), 0);
}

/* No page is mapped again once the telemetry has other keys or the device is gone. */
static void not_mapped_again(struct kunit *test)
{
	unsigned long at = process_pages(test, 1), keys = process_pages(test, 1);
	u64 pfn = process_pfn(test, at), other = pfn ^ 1;
	struct anemone_rotate rotate = {
		.size = sizeof(rotate), .keys = keys, .count = 1, .period_ms = 60000
	};
	struct user_scene scene;

	user_scene_init(test, &scene, at);
	process_put(test, keys, &other, sizeof(other));
	rotate.id = scene.add.id;
	KUNIT_ASSERT_EQ(test, user_scene_map(test, &scene, at, 3, 0), 0);
	mutex_lock(&scene.telemetry->pages.lock); /* makes the reaper wait */
	user_scene_invalidate(test, &scene, at, MMU_NOTIFY_CLEAR);
	KUNIT_ASSERT_EQ(test,
			process_call(test, scene.filp, ANEMONE_ROTATE, &rotate, sizeof(rotate)), 0);
	mutex_unlock(&scene.telemetry->pages.lock);
	KUNIT_EXPECT_EQ(test, user_scene_entries(&scene), 0);
	KUNIT_EXPECT_EQ(test, scene.telemetry->instance[0].mapped, 1);
	KUNIT_ASSERT_EQ(test, anemone_rotate_stop(scene.telemetry), 0);

	KUNIT_ASSERT_EQ(test, user_scene_map(test, &scene, at, 3, 0), 0);
	scene.mock->dead = true;
	user_scene_invalidate(test, &scene, at, MMU_NOTIFY_CLEAR);
	KUNIT_EXPECT_EQ(test, user_scene_entries(&scene), 0);
	KUNIT_EXPECT_TRUE(test, scene.mock->ctl->hw.failed);
}

/* Pages that go while the device is suspended or in reset are not mapped again. */
static void goes_during_a_reset(struct kunit *test)
{
	unsigned long at = process_pages(test, 2);
	u64 gone = process_pfn(test, at), stays = process_pfn(test, at + PAGE_SIZE), values[2];
	struct user_scene scene;

	user_scene_init(test, &scene, at);
	KUNIT_ASSERT_EQ(test, user_scene_map(test, &scene, at, 0, 0), 0);
	KUNIT_ASSERT_EQ(test, user_scene_map(test, &scene, at + PAGE_SIZE, 1, 0), 0);
	scene.mock->ctl->hw.down = true;
	mock_reset(scene.mock);
	KUNIT_ASSERT_EQ(test, vm_munmap(at, PAGE_SIZE), 0);
	scene.mock->ctl->hw.down = false;
	mutex_lock(&scene.mock->ctl->lock);
	KUNIT_ASSERT_EQ(test, anemone_controller_restart(scene.mock->ctl, MOCK_REGION_BYTES), 0);
	mutex_unlock(&scene.mock->ctl->lock);
	user_scene_access(test, &scene, gone);
	user_scene_access(test, &scene, stays);
	KUNIT_ASSERT_EQ(test, anemone_snapshot(scene.telemetry, 0, 2, values), 0);
	KUNIT_EXPECT_EQ(test, values[0], 0);
	KUNIT_EXPECT_EQ(test, values[1], 1);
}

/* An entry moves to another region without a missed access, and without faulting its page in. */
static void moved_to_another_region(struct kunit *test)
{
	unsigned long at = process_pages(test, 1);
	u64 pfn = process_pfn(test, at), values[2];
	struct vm_area_struct *vma = find_vma(current->mm, at);
	struct anemone_record record;
	struct user_scene scene;

	user_scene_init(test, &scene, at);
	user_scene_report_lost(test, &scene, sizeof(record));
	KUNIT_ASSERT_EQ(test, user_scene_map(test, &scene, at, 3, 0), 0);
	user_scene_access(test, &scene, pfn);
	scene.mock->unmaps = 0;
	/* The page can no longer be faulted in for writing. */
	mmap_write_lock(current->mm);
	vm_flags_clear(vma, VM_WRITE);
	mmap_write_unlock(current->mm);
	KUNIT_EXPECT_EQ(test, user_scene_map(test, &scene, at, 4, 0), 0);
	mmap_write_lock(current->mm);
	vm_flags_set(vma, VM_WRITE);
	mmap_write_unlock(current->mm);
	KUNIT_EXPECT_EQ(test, scene.mock->unmaps, 0);
	KUNIT_EXPECT_EQ(test, user_scene_entries(&scene), 1);
	user_scene_access(test, &scene, pfn);
	KUNIT_ASSERT_EQ(test, anemone_snapshot(scene.telemetry, 3, 2, values), 0);
	KUNIT_EXPECT_EQ(test, values[0], 1);
	KUNIT_EXPECT_EQ(test, values[1], 1);
	/* It is lost like any other, with its new region. */
	KUNIT_ASSERT_EQ(test, vm_munmap(at, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, user_scene_entries(&scene), 0);
	KUNIT_ASSERT_EQ(test, user_scene_read(test, &scene, &record, sizeof(record)),
			sizeof(record));
	KUNIT_EXPECT_EQ(test, record.event.counter, 4);
}

/* If the host has moved the memory, the key is of another page. */
static void host_memory_moved(struct kunit *test)
{
	unsigned long at = process_pages(test, 1);
	struct anemone_record record;
	struct user_scene scene;

	user_scene_init(test, &scene, at);
	user_scene_report_lost(test, &scene, sizeof(record));
	KUNIT_ASSERT_EQ(test, user_scene_map(test, &scene, at, 3, 0), 0);
	scene.mock->ctl->memory.range[0].host_base += PAGE_SIZE;
	user_scene_invalidate(test, &scene, at, MMU_NOTIFY_CLEAR);
	KUNIT_EXPECT_EQ(test, user_scene_entries(&scene), 0);
	KUNIT_EXPECT_EQ(test, scene.telemetry->instance[0].mapped, 0);
	KUNIT_EXPECT_EQ(test, user_scene_read(test, &scene, &record, sizeof(record)),
			sizeof(record));
}

/* An entry of less than a page depends on its own page, and not on the next one. */
static void less_than_a_page(struct kunit *test)
{
	unsigned long at = process_pages(test, 2);
	struct user_scene scene;

	user_scene_init_keys(test, &scene, at, 6);
	KUNIT_ASSERT_EQ(test, user_scene_map(test, &scene, at + 5 * 64, 3, 0), 0);
	KUNIT_ASSERT_EQ(test, vm_munmap(at + PAGE_SIZE, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, scene.telemetry->instance[0].mapped, 1);
	KUNIT_EXPECT_EQ(test, user_scene_entries(&scene), 1);
	KUNIT_ASSERT_EQ(test, vm_munmap(at, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, user_scene_entries(&scene), 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(counted_if_not_moved),    KUNIT_CASE(split_and_unmapped),
	KUNIT_CASE(not_mapped_again),	     KUNIT_CASE(goes_during_a_reset),
	KUNIT_CASE(moved_to_another_region), KUNIT_CASE(host_memory_moved),
	KUNIT_CASE(less_than_a_page),	     {},
};

static struct kunit_suite suite = { .name = "anemone_user_pages_kept", .test_cases = cases };

kunit_test_suite(suite);
