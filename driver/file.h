/* SPDX-License-Identifier: GPL-2.0 */
/* An open /dev/anemoneN, and the telemetries that are its. */
#ifndef ANEMONE_FILE_H
#define ANEMONE_FILE_H

#include <linux/fs.h>
#include <linux/xarray.h>

#include "telemetry.h"

struct anemone_file {
	struct anemone_controller *ctl; /* holds a reference */
	/* One call at a time; taken before a rotation's lock, and that before the controller's. */
	struct mutex lock;
	struct xarray telemetries; /* by id, from 1 on; under its own lock for mmap(2) */
	/* What follows under the controller's lock. */
	struct list_head events;
	u32 record;	  /* bytes of what read(2) returns of an event */
	bool report_lost; /* also of entries that went with their page (user_pages.c): */
	struct list_head lost;
	unsigned int lost_count;
	u64 lost_overflow; /* that were too many to be told one by one */
};

extern const struct file_operations anemone_fops;

struct anemone_file *anemone_file_new(struct anemone_controller *ctl);
void anemone_file_free(struct anemone_file *file);

/* ioctl.c */
long anemone_ioctl(struct file *filp, unsigned int command, unsigned long argument);
/* Everything of a telemetry ends: rotation, pages, hardware, references. Under file->lock. */
void anemone_file_remove(struct anemone_file *file, struct anemone_telemetry *telemetry);

/* snapshot.c */
/* The buffer that mmap(2) shows, made when it is first asked for. */
int anemone_snapshot_mmap(struct anemone_file *file, struct vm_area_struct *vma);
/* Fills it; -ENXIO: nobody has mapped it yet. Under file->lock. */
int anemone_snapshot_fill(struct anemone_telemetry *telemetry);

#endif
