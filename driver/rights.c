// SPDX-License-Identifier: GPL-2.0
/* Capabilities, and entries for the caller's own pages. */
#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "rights.h"

struct anemone_page {
	struct mmu_interval_notifier notifier;
	struct list_head on_telemetry; /* under the file's lock */
	struct anemone_part *part;
	u64 address, key;
	bool live; /* the entry is this page's; under the lock of part->keys */
};

bool anemone_may_add(void)
{
	return perfmon_capable();
}

bool anemone_may_name_physical(void)
{
	return capable(CAP_SYS_ADMIN);
}

/* The page moves or goes: so does its entry, at once. No controller's lock: this may not wait. */
static bool invalidate(struct mmu_interval_notifier *notifier,
		       const struct mmu_notifier_range *range, unsigned long sequence)
{
	struct anemone_page *page = container_of(notifier, struct anemone_page, notifier);
	struct anemone_part *part = page->part;

	/* The page stays where it is; NUMA balancing, of all things, scans memory like this. */
	if (range->event == MMU_NOTIFY_PROTECTION_VMA || range->event == MMU_NOTIFY_SOFT_DIRTY)
		return true;
	xa_lock(&part->keys);
	mmu_interval_set_seq(notifier, sequence);
	if (page->live) {
		page->live = false;
		anemone_part_unmap_locked(part, page->key);
		/* Before the page is anybody else's, the device has it. */
		anemone_part_flush(part);
	}
	xa_unlock(&part->keys);
	return true;
}

static const struct mmu_interval_notifier_ops page_ops = { .invalidate = invalidate };

static struct anemone_page *find_page(struct anemone_telemetry *telemetry, u64 address)
{
	struct anemone_page *page;

	list_for_each_entry(page, &telemetry->pages, on_telemetry)
		if (page->address == address && page->notifier.mm == current->mm)
			return page;
	return NULL;
}

static void remove_page(struct anemone_page *page)
{
	mmu_interval_notifier_remove(&page->notifier);
	xa_lock(&page->part->keys);
	if (page->live)
		anemone_part_unmap_locked(page->part, page->key);
	xa_unlock(&page->part->keys);
	list_del(&page->on_telemetry);
	kfree(page);
}

/*
 * Whether the pages are one run of memory, of one page or huge page, that is the caller's alone.
 * They were asked for to be written: what was shared by a fork, or by KSM, is not shared any more.
 */
static bool own(struct page **pages, unsigned long count, u64 reach)
{
	unsigned long i;

	if (!folio_test_anon(page_folio(pages[0])) || folio_size(page_folio(pages[0])) < reach)
		return false;
	for (i = 1; i < count; i++)
		if (page_to_pfn(pages[i]) != page_to_pfn(pages[0]) + i)
			return false;
	return true;
}

/* The device's key of the memory at page->address. */
static int find_key(struct anemone_page *page, unsigned int shift)
{
	const struct anemone_memory *memory = &page->part->ctl->memory;
	u64 reach = 1ULL << shift, host;
	unsigned long count = max_t(u64, reach >> PAGE_SHIFT, 1);
	struct page **pages = kmalloc_array(count, sizeof(*pages), GFP_KERNEL);
	int got, i, err = -EFAULT;

	if (!pages)
		return -ENOMEM;
	got = get_user_pages_fast(page->address, count, FOLL_WRITE, pages);
	if (got != count)
		goto put;
	host = PFN_PHYS(page_to_pfn(pages[0])) + offset_in_page(page->address);
	err = -EACCES;
	if (!own(pages, count, reach) || host & (reach - 1))
		goto put;
	err = -ERANGE;
	if (host >= memory->host_base && host - memory->host_base < memory->size)
		err = anemone_plan_key(&page->part->plan, &page->part->ctl->hw.shape, host >> shift,
				       &page->key);
put:
	for (i = 0; i < got; i++)
		put_page(pages[i]);
	kfree(pages);
	return err;
}

int anemone_page_map(struct anemone_telemetry *telemetry, u64 address, u32 region)
{
	unsigned int shift = telemetry->spec.translation.primary.shift;
	struct anemone_part *part = &telemetry->part[0];
	struct anemone_page *page;
	unsigned long sequence;
	int err;

	if (!(telemetry->spec.flags & ANEMONE_SPEC_HOST) || shift > PMD_SHIFT ||
	    address & ((1ULL << shift) - 1) || address >= TASK_SIZE_MAX || !current->mm)
		return -EINVAL;
	/* It may have gone since the entry before. */
	mutex_lock(&part->ctl->lock);
	err = anemone_controller_usable(part->ctl);
	mutex_unlock(&part->ctl->lock);
	if (err)
		return err;
	page = find_page(telemetry, address);
	if (page)
		remove_page(page);
	page = kzalloc(sizeof(*page), GFP_KERNEL_ACCOUNT);
	if (!page)
		return -ENOMEM;
	page->part = part;
	page->address = address;
	err = mmu_interval_notifier_insert(&page->notifier, current->mm, address,
					   max(1UL << shift, PAGE_SIZE), &page_ops);
	if (err) {
		kfree(page);
		return err;
	}
	list_add_tail(&page->on_telemetry, &telemetry->pages);
	do {
		sequence = mmu_interval_read_begin(&page->notifier);
		err = find_key(page, shift);
		if (err)
			break;
		err = anemone_part_reserve(part, page->key);
		if (err)
			break;
		xa_lock(&part->keys);
		err = mmu_interval_read_retry(&page->notifier, sequence) ? -EAGAIN : 0;
		if (!err)
			err = anemone_part_map_locked(part, page->key, region);
		page->live = !err;
		xa_unlock(&part->keys);
	} while (err == -EAGAIN && !signal_pending(current));
	if (err == -EAGAIN)
		err = -EINTR;
	if (err)
		remove_page(page);
	return err;
}

int anemone_page_unmap(struct anemone_telemetry *telemetry, u64 address)
{
	struct anemone_page *page = find_page(telemetry, address);

	if (!page)
		return -ENOENT;
	remove_page(page);
	return 0;
}

void anemone_pages_remove(struct anemone_telemetry *telemetry)
{
	struct anemone_page *page, *next;

	list_for_each_entry_safe(page, next, &telemetry->pages, on_telemetry)
		remove_page(page);
}
