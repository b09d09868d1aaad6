// SPDX-License-Identifier: GPL-2.0
/* Snapshots of counters in memory that is shared with user space, read-only. */
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/version.h>
#include <linux/vmalloc.h>

#include "file.h"

static size_t anemone_snapshot_counters(const struct anemone_telemetry *telemetry)
{
	return (size_t)telemetry->regions * telemetry->region_counters;
}

static size_t anemone_snapshot_size(const struct anemone_telemetry *telemetry)
{
	return PAGE_ALIGN(struct_size(telemetry->snapshot, values,
				      anemone_snapshot_counters(telemetry)));
}

int anemone_snapshot_mmap(struct anemone_file *file, struct vm_area_struct *vma)
{
	unsigned long page = vma->vm_pgoff & ((1UL << (32 - PAGE_SHIFT)) - 1);
	struct anemone_telemetry *telemetry;
	struct anemone_snapshot *fresh;
	int err;

	if (vma->vm_flags & VM_WRITE)
		return -EPERM;
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
	vma->vm_flags &= ~VM_MAYWRITE;
#else
	vm_flags_clear(vma, VM_MAYWRITE);
#endif
	xa_lock(&file->telemetries);
	telemetry = xa_load(&file->telemetries, vma->vm_pgoff >> (32 - PAGE_SHIFT));
	if (telemetry)
		anemone_telemetry_get(telemetry);
	xa_unlock(&file->telemetries);
	if (!telemetry)
		return -ENXIO;
	if (!READ_ONCE(telemetry->snapshot)) {
		fresh = vmalloc_user(anemone_snapshot_size(telemetry));
		if (fresh && cmpxchg(&telemetry->snapshot, NULL, fresh))
			vfree(fresh); /* another thread was first */
	}
	err = telemetry->snapshot ? remap_vmalloc_range(vma, telemetry->snapshot, page) : -ENOMEM;
	anemone_telemetry_put(telemetry);
	return err;
}

int anemone_snapshot_fill(struct anemone_telemetry *telemetry)
{
	struct anemone_snapshot *snapshot = READ_ONCE(telemetry->snapshot);
	u64 sequence;
	int err;

	if (!snapshot)
		return -ENXIO;
	/* Only this file's ioctls write it, one at a time; user space maps it read-only. */
	sequence = snapshot->sequence + 1;
	WRITE_ONCE(snapshot->sequence, sequence);
	smp_wmb(); /* make it odd before the first value */
	err = anemone_telemetry_read(telemetry, false, false, 0,
				     anemone_snapshot_counters(telemetry), snapshot->values);
	snapshot->count = err ? 0 : anemone_snapshot_counters(telemetry);
	snapshot->time_ns = ktime_get_ns();
	smp_wmb(); /* make it even after the last value */
	WRITE_ONCE(snapshot->sequence, sequence + 1);
	return err;
}
