// SPDX-License-Identifier: GPL-2.0
/* Entries for user pages that go: they must be removed completely. */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>

#include "../user_pages.h"
#include "user_scene.h"

#define PAGES 16
static void counted_until_it_goes(struct kunit *test)
{
	unsigned long at = process_pages(test, 4);
	u64 pfn = process_pfn(test, at + PAGE_SIZE), value;
	struct user_scene scene;

	user_scene_init(test, &scene, at);
	KUNIT_ASSERT_EQ(test, user_scene_map(test, &scene, at + PAGE_SIZE, 3, 0), 0);
	user_scene_access(test, &scene, pfn);
	KUNIT_ASSERT_EQ(test, vm_munmap(at + PAGE_SIZE, PAGE_SIZE), 0);
	user_scene_access(test, &scene, pfn); /* may be another owner's by now */
	KUNIT_ASSERT_EQ(test, anemone_snapshot(scene.telemetry, 3, 1, &value), 0);
	KUNIT_EXPECT_EQ(test, value, 1);
	KUNIT_EXPECT_EQ(test, scene.telemetry->instance[0].mapped, 0);
	KUNIT_EXPECT_EQ(test, user_scene_entries(&scene), 0);
	KUNIT_EXPECT_EQ(test, anemone_user_page_map(scene.telemetry, at + PAGE_SIZE, 3), -EFAULT);
	KUNIT_EXPECT_EQ(test, anemone_user_page_unmap(scene.telemetry, at + PAGE_SIZE), -ENOENT);
	KUNIT_EXPECT_EQ(test, user_scene_entries(&scene), 0);
}

struct unmapping {
	struct work_struct work;
	struct mm_struct *mm;
	struct anemone_telemetry *telemetry;
	u64 address;
	int err;
};

static void unmap_own(struct work_struct *work)
{
	struct unmapping *unmapping = container_of(work, struct unmapping, work);

	kthread_use_mm(unmapping->mm);
	unmapping->err = anemone_user_page_unmap(unmapping->telemetry, unmapping->address);
	kthread_unuse_mm(unmapping->mm);
}

/* Removing a page's notifier may sleep, so the device's entry must be removed before. */
static void entry_gone_before_notifier(struct kunit *test)
{
	unsigned long at = process_pages(test, 2);
	struct unmapping unmapping = { .mm = current->mm, .address = at };
	struct mmu_notifier_range range;
	struct user_scene scene;
	unsigned int i;

	user_scene_init(test, &scene, at);
	unmapping.telemetry = scene.telemetry;
	KUNIT_ASSERT_EQ(test, user_scene_map(test, &scene, at, 0, 0), 0);
	KUNIT_ASSERT_EQ(test, user_scene_map(test, &scene, at + PAGE_SIZE, 1, 0), 0);
	scene.mock->reads = 0;
	mmu_notifier_range_init(&range, MMU_NOTIFY_PROTECTION_VMA, 0, current->mm, at + PAGE_SIZE,
				at + 2 * PAGE_SIZE);
	mmu_notifier_invalidate_range_start(&range); /* delays the removal of the notifier */
	INIT_WORK_ONSTACK(&unmapping.work, unmap_own);
	schedule_work(&unmapping.work);
	for (i = 0; i < 100 && !READ_ONCE(scene.mock->reads); i++)
		msleep(20);
	KUNIT_EXPECT_EQ(test, scene.mock->reads, 1);
	KUNIT_EXPECT_EQ(test, scene.telemetry->instance[0].mapped, 1);
	mmu_notifier_invalidate_range_end(&range);
	flush_work(&unmapping.work);
	KUNIT_EXPECT_EQ(test, unmapping.err, 0);
}

/* After a heap was mapped and unmapped, only the mapped pages have entries. */
static void churn(struct kunit *test)
{
	unsigned long at = process_pages(test, PAGES);
	struct user_scene scene;
	unsigned int turn, i;

	user_scene_init(test, &scene, at);
	for (turn = 0; turn < 50; turn++) {
		for (i = 0; i < PAGES; i++) {
			unsigned long page = at + i * PAGE_SIZE;

			KUNIT_ASSERT_EQ(test, user_scene_map(test, &scene, page, i, 0), 0);
			KUNIT_ASSERT_EQ(test, vm_munmap(page, PAGE_SIZE), 0);
			KUNIT_ASSERT_EQ(test,
					vm_mmap(NULL, page, PAGE_SIZE, PROT_READ | PROT_WRITE,
						MAP_ANONYMOUS | MAP_PRIVATE | MAP_FIXED, 0),
					page);
			process_put(test, page, &i, sizeof(i));
		}
		KUNIT_ASSERT_EQ(test, user_scene_entries(&scene), 0);
	}
	/* Mapped again and again there is one entry; unmapped, none. */
	for (i = 0; i < 5; i++)
		KUNIT_ASSERT_EQ(test, user_scene_map(test, &scene, at, i, 0), 0);
	KUNIT_EXPECT_EQ(test, user_scene_entries(&scene), 1);
	KUNIT_EXPECT_EQ(test, user_scene_map(test, &scene, at, 0, ANEMONE_ENTRY_UNMAP), 0);
	KUNIT_EXPECT_EQ(test, user_scene_entries(&scene), 0);
	KUNIT_EXPECT_EQ(test, scene.telemetry->instance[0].mapped, 0);
}

static void lost_entries_reported(struct kunit *test)
{
	unsigned long at = process_pages(test, 4);
	struct anemone_record records[4];
	struct anemone_event old;
	struct user_scene scene;
	unsigned int i;

	user_scene_init(test, &scene, at);
	/* A reader that has not asked for lost entries gets notifications only. */
	KUNIT_ASSERT_EQ(test, user_scene_map(test, &scene, at, 1, 0), 0);
	KUNIT_ASSERT_EQ(test, vm_munmap(at, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, user_scene_entries(&scene), 0);
	KUNIT_EXPECT_EQ(test, user_scene_read(test, &scene, &old, sizeof(old)), -EAGAIN);

	user_scene_report_lost(test, &scene, sizeof(records[0]));
	for (i = 1; i < 4; i++)
		KUNIT_ASSERT_EQ(test, user_scene_map(test, &scene, at + i * PAGE_SIZE, 10 + i, 0),
				0);
	/* An entry that the caller unmaps is not lost. */
	KUNIT_ASSERT_EQ(test, user_scene_map(test, &scene, at + PAGE_SIZE, 0, ANEMONE_ENTRY_UNMAP),
			0);
	KUNIT_ASSERT_EQ(test, vm_munmap(at + PAGE_SIZE, 3 * PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, user_scene_entries(&scene), 0);
	KUNIT_EXPECT_EQ(test, user_scene_read(test, &scene, records, 31), -EINVAL);
	KUNIT_ASSERT_EQ(test, user_scene_read(test, &scene, records, sizeof(records)),
			2 * sizeof(records[0]));
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, records[i].event.type, ANEMONE_EVENT_LOST);
		KUNIT_EXPECT_EQ(test, records[i].event.id, scene.add.id);
		KUNIT_EXPECT_EQ(test, records[i].address,
				at + (records[i].event.counter - 10) * PAGE_SIZE);
	}
	KUNIT_EXPECT_NE(test, records[0].address, records[1].address);
	KUNIT_EXPECT_EQ(test, user_scene_read(test, &scene, records, sizeof(records)), -EAGAIN);
}

/* Without a reader memory is bounded, and the number of further losses is reported. */
static void lost_entries_bounded(struct kunit *test)
{
	unsigned long at = process_pages(test, 1);
	struct anemone_record record;
	unsigned int i, told = 0;
	struct user_scene scene;

	user_scene_init(test, &scene, at);
	user_scene_report_lost(test, &scene, sizeof(record));
	for (i = 0; i < 5000; i++) {
		KUNIT_ASSERT_EQ(test, anemone_user_page_map(scene.telemetry, at, 7), 0);
		zap_page_range_single(find_vma(current->mm, at), at, PAGE_SIZE, NULL);
	}
	KUNIT_EXPECT_EQ(test, user_scene_entries(&scene), 0);
	while (user_scene_read(test, &scene, &record, sizeof(record)) == sizeof(record) &&
	       record.event.type == ANEMONE_EVENT_LOST)
		told++;
	KUNIT_EXPECT_EQ(test, told, 4096);
	KUNIT_EXPECT_EQ(test, record.event.type, ANEMONE_EVENT_MORE_LOST);
	KUNIT_EXPECT_EQ(test, record.event.counter, 5000 - 4096);
	KUNIT_EXPECT_EQ(test, user_scene_read(test, &scene, &record, sizeof(record)), -EAGAIN);
}

/* Removing a telemetry drops its lost entries. */
static void removed_with_losses(struct kunit *test)
{
	unsigned long at = process_pages(test, 2);
	struct anemone_id id = { .size = sizeof(id) };
	struct anemone_record record;
	struct user_scene scene;

	user_scene_init(test, &scene, at);
	user_scene_report_lost(test, &scene, 100);
	KUNIT_ASSERT_EQ(test, user_scene_map(test, &scene, at, 0, 0), 0);
	KUNIT_ASSERT_EQ(test, user_scene_map(test, &scene, at + PAGE_SIZE, 1, 0), 0);
	KUNIT_ASSERT_EQ(test, vm_munmap(at, PAGE_SIZE), 0);
	id.id = scene.add.id;
	KUNIT_ASSERT_EQ(test, process_call(test, scene.filp, ANEMONE_REMOVE, &id, sizeof(id)), 0);
	KUNIT_EXPECT_EQ(test, user_scene_read(test, &scene, &record, 100), -EAGAIN);
	KUNIT_EXPECT_EQ(test, vm_munmap(at + PAGE_SIZE, PAGE_SIZE), 0);
}

/* Each read of a dead device takes a timeout; one must be enough for any number of pages. */
static void dead_device_times_out_once(struct kunit *test)
{
	unsigned long at = process_pages(test, PAGES);
	struct user_scene scene;
	unsigned int i;

	user_scene_init(test, &scene, at);
	for (i = 0; i < PAGES; i++)
		KUNIT_ASSERT_EQ(test, user_scene_map(test, &scene, at + i * PAGE_SIZE, i, 0), 0);
	scene.mock->dead = true;
	scene.mock->reads = 0;
	KUNIT_ASSERT_EQ(test, vm_munmap(at, PAGES * PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, scene.mock->reads, 1);
	KUNIT_EXPECT_TRUE(test, scene.mock->ctl->hw.failed);
	KUNIT_EXPECT_EQ(test, user_scene_entries(&scene), 0);
	KUNIT_EXPECT_EQ(test, user_scene_map(test, &scene, at, 0, 0), -EIO);
}

/* Memory that is shared, absent or not whole is refused. */
static void refusals(struct kunit *test)
{
	unsigned long at = process_pages(test, 2), shared;
	struct user_scene scene;

	user_scene_init(test, &scene, at);
	KUNIT_EXPECT_EQ(test, user_scene_map(test, &scene, at + 1, 0, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, user_scene_map(test, &scene, TASK_SIZE_MAX, 0, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, user_scene_map(test, &scene, PAGE_SIZE, 0, 0), -EFAULT);
	KUNIT_EXPECT_EQ(test, user_scene_map(test, &scene, at, scene.add.regions, 0), -ERANGE);
	shared = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
			       MAP_ANONYMOUS | MAP_SHARED, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(shared));
	KUNIT_EXPECT_EQ(test, user_scene_map(test, &scene, shared, 0, 0), -EACCES);
	/* The host has moved the memory. */
	anemone_memory_set(&scene.mock->ctl->memory, 2 * PAGE_SIZE, SZ_1G);
	KUNIT_EXPECT_EQ(test, user_scene_map(test, &scene, at, 0, 0), -ESTALE);
}

/* A user without CAP_SYS_ADMIN cannot name physical memory by any call. */
static void without_capability(struct kunit *test)
{
	static const int admin[] = { CAP_SYS_ADMIN }, both[] = { CAP_SYS_ADMIN, CAP_PERFMON };
	unsigned long at = process_pages(test, 2), keys = process_pages(test, 1);
	struct anemone_entry entry = { .key = process_pfn(test, at) };
	struct anemone_status status = { .size = sizeof(status) };
	struct anemone_rotate rotate = { .size = sizeof(rotate), .period_ms = 10, .count = 1 };
	struct anemone_info info = { .size = sizeof(info) };
	struct anemone_map map = { .size = sizeof(map), .entries = keys, .count = 1 };
	struct anemone_add add;
	const struct cred *self;
	struct user_scene scene;

	self = process_set_cred(test, 1000, admin, ARRAY_SIZE(admin));
	user_scene_init(test, &scene, at);
	map.id = scene.add.id;
	status.id = scene.add.id;
	rotate.id = scene.add.id;
	rotate.keys = keys;
	process_put(test, keys, &entry, sizeof(entry));
	KUNIT_EXPECT_EQ(test, process_call(test, scene.filp, ANEMONE_MAP, &map, sizeof(map)),
			-EPERM);
	KUNIT_EXPECT_EQ(test,
			process_call(test, scene.filp, ANEMONE_ROTATE, &rotate, sizeof(rotate)),
			-EPERM);
	KUNIT_EXPECT_EQ(test, user_scene_map(test, &scene, at, 0, 0), 0);
	user_scene_access(test, &scene, process_pfn(test, at + PAGE_SIZE)); /* has no entry */
	user_scene_access(test, &scene, process_pfn(test, at));
	KUNIT_ASSERT_EQ(test,
			process_call(test, scene.filp, ANEMONE_STATUS, &status, sizeof(status)), 0);
	KUNIT_EXPECT_EQ(test, status.matched, 1);
	KUNIT_EXPECT_EQ(test, status.unmapped, 0);
	scene.mock->ctl->interrupts = 5;
	KUNIT_ASSERT_EQ(test, process_call(test, scene.filp, ANEMONE_INFO, &info, sizeof(info)), 0);
	KUNIT_EXPECT_EQ(test, info.interrupts, 0);
	process_restore_cred(self);

	add = scene.add;
	self = process_set_cred(test, 1000, both, ARRAY_SIZE(both));
	KUNIT_EXPECT_EQ(test, process_call(test, scene.filp, ANEMONE_ADD, &add, sizeof(add)),
			-EPERM);
	KUNIT_EXPECT_NOT_NULL(test, strstr(add.reason, "CAP_PERFMON"));
	process_restore_cred(self);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(counted_until_it_goes),
	KUNIT_CASE(entry_gone_before_notifier),
	KUNIT_CASE(churn),
	KUNIT_CASE(lost_entries_reported),
	KUNIT_CASE(lost_entries_bounded),
	KUNIT_CASE(removed_with_losses),
	KUNIT_CASE(dead_device_times_out_once),
	KUNIT_CASE(refusals),
	KUNIT_CASE(without_capability),
	{},
};

static struct kunit_suite suite = { .name = "anemone_user_pages", .test_cases = cases };

kunit_test_suite(suite);
