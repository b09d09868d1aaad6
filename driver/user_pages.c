// SPDX-License-Identifier: GPL-2.0
/* Table entries for user pages. */
#include <linux/hashtable.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/version.h>

#include "file.h"
#include "notify.h"
#include "user_pages.h"

/* Most lost entries that are kept for their reader; further ones are only counted. */
#define MAX_LOST_EVENTS 4096

struct anemone_user_page {
	struct mmu_interval_notifier notifier;
	struct hlist_node by_address; /* under pages->lock */
	struct anemone_telemetry *telemetry;
	u64 address, key;
	u32 region;
	bool live; /* the table entry belongs to this page; under the lock of instance->keys */
	/* After an invalidation: queued for the reaper, then for the reader of its lost event. */
	struct llist_node invalidated;
	bool lost, removed;
	bool unmapped; /* permanently: the address has other memory now, or none */
	struct list_head on_file;
	u64 time_ns;
};

static struct anemone_instance *anemone_page_instance(struct anemone_telemetry *telemetry)
{
	return &telemetry->instance[0];
}

/*
 * Removes the entry at once when its page moves or goes. It cannot wait, so it does not take the
 * controller's lock. The page may also stay: to split a mapping, the kernel invalidates the 2 MiB
 * around it (anemone_user_pages_reap).
 */
static bool anemone_user_page_invalidate(struct mmu_interval_notifier *notifier,
					 const struct mmu_notifier_range *range,
					 unsigned long sequence)
{
	struct anemone_user_page *page = container_of(notifier, struct anemone_user_page, notifier);
	struct anemone_instance *instance = anemone_page_instance(page->telemetry);

	/* The page stays where it is; NUMA balancing scans memory in this way. */
	if (range->event == MMU_NOTIFY_PROTECTION_VMA || range->event == MMU_NOTIFY_SOFT_DIRTY)
		return true;
	xa_lock(&instance->keys);
	mmu_interval_set_seq(notifier, sequence);
	if (range->event == MMU_NOTIFY_UNMAP || range->event == MMU_NOTIFY_RELEASE)
		page->unmapped = true;
	if (page->live) {
		page->live = false;
		page->lost = true;
		page->time_ns = ktime_get_ns();
		anemone_instance_unmap_locked(instance, page->key);
		/* The device must have this before the page gets another owner. */
		anemone_instance_flush(instance);
		/* A notifier cannot be removed in its callback, so the reaper frees the page. */
		llist_add(&page->invalidated, &page->telemetry->pages.invalidated);
		schedule_work(&page->telemetry->pages.reaper);
	}
	xa_unlock(&instance->keys);
	return true;
}

static const struct mmu_interval_notifier_ops anemone_user_page_ops = {
	.invalidate = anemone_user_page_invalidate
};

static u64 anemone_user_page_hash(const struct mm_struct *mm, u64 address)
{
	return (address >> PAGE_SHIFT) ^ (unsigned long)mm / L1_CACHE_BYTES;
}

static struct anemone_user_page *anemone_user_page_find(struct anemone_telemetry *telemetry,
							u64 address)
{
	struct anemone_user_page *page;

	hash_for_each_possible(telemetry->pages.table, page, by_address,
			       anemone_user_page_hash(current->mm, address))
		if (page->address == address && page->notifier.mm == current->mm)
			return page;
	return NULL;
}

/*
 * Removes the page from notifier tree and hash table. Its table entry goes first, because an entry
 * without a notifier would count the accesses of the page's next owner.
 */
static void anemone_user_page_detach(struct anemone_user_page *page)
{
	struct anemone_instance *instance = anemone_page_instance(page->telemetry);

	xa_lock(&instance->keys);
	if (page->live) {
		page->live = false;
		anemone_instance_unmap_locked(instance, page->key);
		anemone_instance_flush(instance);
	}
	xa_unlock(&instance->keys);
	mmu_interval_notifier_remove(&page->notifier);
	hash_del(&page->by_address);
	page->telemetry->pages.count--;
}

static void anemone_user_page_remove(struct anemone_user_page *page)
{
	anemone_user_page_detach(page);
	if (page->lost)
		page->removed = true; /* the reaper frees it */
	else
		kfree(page);
}

/* Queues a lost entry for the file's reader; false: the entry is not kept. */
static bool anemone_lost_report(struct anemone_user_page *page)
{
	struct anemone_telemetry *telemetry = page->telemetry;
	struct anemone_controller *ctl = anemone_page_instance(telemetry)->ctl;
	struct anemone_file *file = telemetry->file;
	bool queued = false;

	mutex_lock(&ctl->lock);
	if (file && file->report_lost) {
		queued = file->lost_count < MAX_LOST_EVENTS;
		if (queued) {
			list_add_tail(&page->on_file, &file->lost);
			file->lost_count++;
		} else {
			file->lost_overflow++;
		}
		anemone_notify_wake(telemetry);
	}
	mutex_unlock(&ctl->lock);
	return queued;
}

bool anemone_lost_next(struct anemone_file *file, struct anemone_record *record)
{
	struct anemone_user_page *page;

	*record = (struct anemone_record){};
	mutex_lock(&file->ctl->lock);
	page = list_first_entry_or_null(&file->lost, struct anemone_user_page, on_file);
	if (page) {
		record->event.id = page->telemetry->id;
		record->event.counter = page->region * page->telemetry->region_counters;
		record->event.type = ANEMONE_EVENT_LOST;
		record->event.time_ns = page->time_ns;
		record->address = page->address;
	} else if (file->lost_overflow) {
		record->event.counter = min_t(u64, file->lost_overflow, U32_MAX);
		record->event.type = ANEMONE_EVENT_MORE_LOST;
		record->event.time_ns = ktime_get_ns();
	}
	mutex_unlock(&file->ctl->lock);
	return record->event.type;
}

static void anemone_lost_drop(struct anemone_file *file, struct anemone_user_page *page)
{
	list_del(&page->on_file);
	file->lost_count--;
	kfree(page);
}

void anemone_lost_done(struct anemone_file *file, const struct anemone_record *record)
{
	mutex_lock(&file->ctl->lock);
	if (record->event.type == ANEMONE_EVENT_LOST)
		anemone_lost_drop(file,
				  list_first_entry(&file->lost, struct anemone_user_page, on_file));
	else
		file->lost_overflow -= record->event.counter;
	mutex_unlock(&file->ctl->lock);
}

/* Pins the caller's pages for writing, which ends sharing by a fork or by KSM. */
static long anemone_user_page_fault_in(const struct anemone_user_page *page, unsigned long count,
				       struct page **pages)
{
	return get_user_pages_fast(page->address, count, FOLL_WRITE, pages);
}

/* Pins pages that are present, for any caller and protection; faults none in. */
static long anemone_user_page_peek(const struct anemone_user_page *page, unsigned long count,
				   struct page **pages)
{
	unsigned int flags = FOLL_FORCE | FOLL_NOFAULT;
	struct mm_struct *mm = page->notifier.mm;
	long got;

	if (!mmget_not_zero(mm))
		return 0;
	mmap_read_lock(mm);
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
	got = get_user_pages_remote(mm, page->address, count, flags, pages, NULL, NULL);
#else
	got = get_user_pages_remote(mm, page->address, count, flags, pages, NULL);
#endif
	mmap_read_unlock(mm);
	mmput_async(mm);
	return got;
}

/* Whether the pages are anonymous, contiguous, and of one page or huge page. */
static bool anemone_pages_are_anon_run(struct page **pages, unsigned long count, u64 reach)
{
	unsigned long i;

	if (!folio_test_anon(page_folio(pages[0])) || folio_size(page_folio(pages[0])) < reach)
		return false;
	for (i = 1; i < count; i++)
		if (page_to_pfn(pages[i]) != page_to_pfn(pages[0]) + i)
			return false;
	return true;
}

/* If one page table entry maps a huge page, its first page has the mark for all. */
static struct page *anemone_exclusive_marker(struct page *page)
{
	struct folio *folio = page_folio(page);

	if (folio_test_hugetlb(folio))
		return &folio->page;
	return folio_test_large(folio) && folio_entire_mapcount(folio) ? &folio->page : page;
}

/* Whether no other process maps any of these anonymous pages. */
static bool anemone_pages_are_exclusive(struct page **pages, unsigned long count)
{
	unsigned long i;

	for (i = 0; i < count; i++)
		if (!PageAnonExclusive(anemone_exclusive_marker(pages[i])))
			return false;
	return true;
}

/* The device's key of the memory at page->address; faults it in unless present_only. */
static int anemone_user_page_key(const struct anemone_user_page *page, bool present_only, u64 *key)
{
	unsigned int shift = page->telemetry->spec.translation.primary.shift;
	struct anemone_instance *instance = anemone_page_instance(page->telemetry);
	u64 reach = 1ULL << shift, host;
	unsigned long count = max_t(u64, reach >> PAGE_SHIFT, 1);
	struct page **pages = kmalloc_array(count, sizeof(*pages), GFP_KERNEL);
	long got, i;
	int err = -EFAULT;

	if (!pages)
		return -ENOMEM;
	got = present_only ? anemone_user_page_peek(page, count, pages)
			   : anemone_user_page_fault_in(page, count, pages);
	if (got != count)
		goto put;
	host = PFN_PHYS(page_to_pfn(pages[0])) + offset_in_page(page->address);
	err = -EACCES;
	if (!anemone_pages_are_anon_run(pages, count, reach) || host & (reach - 1) ||
	    (present_only && !anemone_pages_are_exclusive(pages, count)))
		goto put;
	err = anemone_plan_key(&instance->plan, &instance->ctl->hw.shape, host >> shift, key);
put:
	for (i = 0; i < got; i++)
		put_page(pages[i]);
	kfree(pages);
	return err;
}

/* Maps the entry once no invalidation is under way. */
static int anemone_user_page_install(struct anemone_user_page *page)
{
	struct anemone_instance *instance = anemone_page_instance(page->telemetry);
	unsigned long sequence;
	int err;

	do {
		sequence = mmu_interval_read_begin(&page->notifier);
		err = anemone_user_page_key(page, false, &page->key);
		if (err)
			break;
		err = anemone_instance_reserve(instance, page->key);
		if (err)
			break;
		xa_lock(&instance->keys);
		err = mmu_interval_read_retry(&page->notifier, sequence) ? -EAGAIN : 0;
		if (!err)
			err = anemone_instance_map_locked(instance, page->key, page->region);
		page->live = !err;
		xa_unlock(&instance->keys);
	} while (err == -EAGAIN && !signal_pending(current));
	return err == -EAGAIN ? -EINTR : err;
}

/* Maps the entry again, unless the page was invalidated again or the telemetry cannot take it. */
static int anemone_user_page_remap(struct anemone_user_page *page, unsigned long sequence)
{
	struct anemone_instance *instance = anemone_page_instance(page->telemetry);
	int err = -EAGAIN;

	mutex_lock(&instance->ctl->lock);
	if (!anemone_instance_installed(instance) || instance->ctl->hw.failed ||
	    page->telemetry->rotation)
		err = -ENODEV;
	xa_lock(&instance->keys);
	if (err == -EAGAIN && !mmu_interval_read_retry(&page->notifier, sequence)) {
		err = anemone_instance_map_locked(instance, page->key, page->region);
		page->live = !err;
		page->lost = err;
	}
	xa_unlock(&instance->keys);
	mutex_unlock(&instance->ctl->lock);
	return err;
}

/* Whether the page has not moved, is exclusive, and has its entry again. */
static bool anemone_user_page_revalidate(struct anemone_user_page *page)
{
	unsigned long sequence;
	u64 key;
	int err;

	do {
		/* Waits for the end of the invalidation. */
		sequence = mmu_interval_read_begin(&page->notifier);
		if (READ_ONCE(page->unmapped) || anemone_user_page_key(page, true, &key) ||
		    key != page->key)
			return false;
		err = anemone_instance_reserve(anemone_page_instance(page->telemetry), key)
			      ?: anemone_user_page_remap(page, sequence);
	} while (err == -EAGAIN);
	return !err;
}

/* Maps invalidated pages that stayed again, and frees those that went. Under pages->lock. */
static void anemone_user_pages_reap(struct anemone_user_pages *pages)
{
	struct llist_node *invalidated = llist_reverse_order(llist_del_all(&pages->invalidated));
	struct anemone_user_page *page, *next;
	bool current_memory;

	if (!invalidated)
		return;
	/* Once for all pages, because it reads the device's decoders. */
	page = llist_entry(invalidated, struct anemone_user_page, invalidated);
	current_memory = !anemone_telemetry_check_memory(page->telemetry);
	llist_for_each_entry_safe(page, next, invalidated, invalidated) {
		if (!page->removed) {
			if (current_memory && anemone_user_page_revalidate(page))
				continue;
			anemone_user_page_detach(page);
			if (anemone_lost_report(page))
				continue;
		}
		kfree(page);
	}
}

static void anemone_user_pages_work(struct work_struct *work)
{
	struct anemone_user_pages *pages = container_of(work, struct anemone_user_pages, reaper);

	/*
	 * The lock's holder may wait for a user's file system. An interruptible wait is no hung
	 * task.
	 */
	if (mutex_lock_interruptible(&pages->lock))
		return;
	anemone_user_pages_reap(pages);
	mutex_unlock(&pages->lock);
}

void anemone_user_pages_init(struct anemone_user_pages *pages)
{
	mutex_init(&pages->lock);
	hash_init(pages->table);
	init_llist_head(&pages->invalidated);
	INIT_WORK(&pages->reaper, anemone_user_pages_work);
}

/* Moves a page with an entry to another region in one write, so that no access is missed. */
static bool anemone_user_page_move(struct anemone_user_page *page, u32 region)
{
	struct anemone_instance *instance = anemone_page_instance(page->telemetry);
	bool live;

	xa_lock(&instance->keys);
	/* This fails if the table was cleared, which removed the entry. */
	page->live = page->live && !anemone_instance_map_locked(instance, page->key, region);
	live = page->live;
	if (live)
		page->region = region;
	xa_unlock(&instance->keys);
	return live;
}

static int anemone_user_page_add(struct anemone_telemetry *telemetry, u64 address, u32 region)
{
	unsigned int shift = telemetry->spec.translation.primary.shift;
	struct anemone_user_pages *pages = &telemetry->pages;
	struct anemone_user_page *page, *old;
	int err;

	anemone_user_pages_reap(pages);
	old = anemone_user_page_find(telemetry, address);
	if (old && anemone_user_page_move(old, region))
		return 0;
	page = kzalloc(sizeof(*page), GFP_KERNEL_ACCOUNT);
	if (!page)
		return -ENOMEM;
	page->telemetry = telemetry;
	page->address = address;
	page->region = region;
	/* A key may cover less than a page. */
	err = mmu_interval_notifier_insert(&page->notifier, current->mm, address & PAGE_MASK,
					   max(1UL << shift, PAGE_SIZE), &anemone_user_page_ops);
	if (err) {
		kfree(page);
		return err;
	}
	hash_add(pages->table, &page->by_address, anemone_user_page_hash(current->mm, address));
	pages->count++;
	err = anemone_user_page_install(page);
	/* The reaper frees a lost old entry, and reports it unless this one replaces it. */
	if (err)
		anemone_user_page_remove(page);
	else if (old)
		anemone_user_page_remove(old);
	return err;
}

int anemone_user_page_map(struct anemone_telemetry *telemetry, u64 address, u32 region)
{
	unsigned int shift = telemetry->spec.translation.primary.shift;
	struct anemone_controller *ctl = anemone_page_instance(telemetry)->ctl;
	int err;

	if (!(telemetry->spec.flags & ANEMONE_SPEC_HOST) || shift > PMD_SHIFT ||
	    address & ((1ULL << shift) - 1) || address >= TASK_SIZE_MAX || !current->mm)
		return -EINVAL;
	/* The device may have gone since the entry before. */
	mutex_lock(&ctl->lock);
	err = anemone_controller_usable(ctl);
	mutex_unlock(&ctl->lock);
	if (err)
		return err;
	mutex_lock(&telemetry->pages.lock);
	err = anemone_user_page_add(telemetry, address, region);
	mutex_unlock(&telemetry->pages.lock);
	return err;
}

int anemone_user_page_unmap(struct anemone_telemetry *telemetry, u64 address)
{
	struct anemone_user_page *page;

	mutex_lock(&telemetry->pages.lock);
	anemone_user_pages_reap(&telemetry->pages);
	page = anemone_user_page_find(telemetry, address);
	if (page)
		anemone_user_page_remove(page);
	mutex_unlock(&telemetry->pages.lock);
	return page ? 0 : -ENOENT;
}

/* Lost entries of a removed telemetry are not reported. */
static void anemone_lost_remove(struct anemone_telemetry *telemetry)
{
	struct anemone_user_page *page, *next;

	mutex_lock(&telemetry->file->ctl->lock);
	list_for_each_entry_safe(page, next, &telemetry->file->lost, on_file)
		if (page->telemetry == telemetry)
			anemone_lost_drop(telemetry->file, page);
	mutex_unlock(&telemetry->file->ctl->lock);
}

void anemone_user_pages_remove(struct anemone_telemetry *telemetry)
{
	struct anemone_user_pages *pages = &telemetry->pages;
	struct anemone_user_page *page;
	struct hlist_node *next;
	unsigned int bucket;

	mutex_lock(&pages->lock);
	hash_for_each_safe(pages->table, bucket, next, page, by_address)
		anemone_user_page_remove(page);
	anemone_user_pages_reap(pages);
	mutex_unlock(&pages->lock);
	cancel_work_sync(&pages->reaper);
	if (telemetry->file)
		anemone_lost_remove(telemetry);
}
