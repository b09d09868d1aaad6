/* SPDX-License-Identifier: GPL-2.0 */
/* An open /dev/anemoneN, and its telemetries. */
#ifndef ANEMONE_FILE_H
#define ANEMONE_FILE_H

#include <linux/fs.h>
#include <linux/xarray.h>

#include "telemetry.h"

struct anemone_file {
	struct anemone_controller *ctl; /* holds a reference */
	/*
	 * Serialises the calls on the file. Lock order: file, telemetry rotation, rotation,
	 * telemetry pages, controller (all mutexes).
	 *
	 * A telemetry's notify_lock and read_lock come after the file's and before the
	 * controller's. mmap_lock may be taken under the file's, so mmap(2), which holds it, takes
	 * none of these.
	 */
	struct mutex lock;
	struct xarray telemetries; /* by id, from 1 on; mmap(2) uses its spinlock */
	/* The following are guarded by the controller's lock. */
	struct list_head events;
	u32 record;	  /* bytes of a record of read(2) */
	bool report_lost; /* report entries that went with their page, too (user_pages.c) */
	struct list_head lost;
	unsigned int lost_count;
	u64 lost_overflow; /* lost entries past those on the list */
};

extern const struct file_operations anemone_fops;

struct anemone_file *anemone_file_new(struct anemone_controller *ctl);
void anemone_file_free(struct anemone_file *file);

/* ioctl.c */
long anemone_ioctl(struct file *filp, unsigned int command, unsigned long argument);
/* Ends a telemetry: rotation, pages, hardware, references. Under file->lock. */
void anemone_file_remove(struct anemone_file *file, struct anemone_telemetry *telemetry);

/* snapshot.c */
/* Maps the snapshot buffer, and allocates it on first use. */
int anemone_snapshot_mmap(struct anemone_file *file, struct vm_area_struct *vma);
/* Fills the buffer; -ENXIO if nobody has mapped it. Under file->lock. */
int anemone_snapshot_fill(struct anemone_telemetry *telemetry);

#endif
