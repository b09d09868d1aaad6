// SPDX-License-Identifier: GPL-2.0
/* The character device: open, release, read, poll, mmap. */
#include <linux/eventfd.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "file.h"
#include "notify.h"
#include "user_pages.h"
#include "rotate.h"

struct anemone_file *anemone_file_new(struct anemone_controller *ctl)
{
	struct anemone_file *file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);

	if (!file)
		return NULL;
	file->ctl = anemone_controller_get(ctl);
	mutex_init(&file->lock);
	xa_init_flags(&file->telemetries, XA_FLAGS_ALLOC1);
	INIT_LIST_HEAD(&file->events);
	INIT_LIST_HEAD(&file->lost);
	file->record = sizeof(struct anemone_event);
	return file;
}

static int anemone_file_open(struct inode *inode, struct file *filp)
{
	struct anemone_file *file =
		anemone_file_new(container_of(filp->private_data, struct anemone_controller, misc));

	if (!file)
		return -ENOMEM;
	filp->private_data = file;
	return nonseekable_open(inode, filp);
}

void anemone_file_remove(struct anemone_file *file, struct anemone_telemetry *telemetry)
{
	xa_erase(&file->telemetries, telemetry->id);
	anemone_rotate_stop(telemetry);
	anemone_user_pages_remove(telemetry);
	anemone_telemetry_remove(telemetry);
}

void anemone_file_free(struct anemone_file *file)
{
	struct anemone_telemetry *telemetry;
	unsigned long id;

	mutex_lock(&file->lock);
	xa_for_each(&file->telemetries, id, telemetry)
		anemone_file_remove(file, telemetry);
	mutex_unlock(&file->lock);
	xa_destroy(&file->telemetries);
	mutex_destroy(&file->lock);
	anemone_controller_put(file->ctl);
	kfree(file);
}

static int anemone_file_release(struct inode *inode, struct file *filp)
{
	anemone_file_free(filp->private_data);
	return 0;
}

/* -ENODEV or -EIO once the device has ended; a suspended device has not. */
static int anemone_file_error(const struct anemone_file *file)
{
	if (READ_ONCE(file->ctl->gone))
		return -ENODEV;
	return READ_ONCE(file->ctl->hw.failed) ? -EIO : 0;
}

static bool anemone_file_readable(struct anemone_file *file)
{
	return !list_empty_careful(&file->events) || !list_empty_careful(&file->lost) ||
	       READ_ONCE(file->lost_overflow);
}

/* The condition that a blocked reader waits for. */
static bool anemone_file_wakes(struct anemone_file *file)
{
	return anemone_file_readable(file) || anemone_file_error(file);
}

/* Copies the record size that was agreed on; bytes that this kernel does not know are zero. */
static bool anemone_copy_record(struct anemone_file *file, char __user *buffer,
				const struct anemone_record *record)
{
	size_t known = min_t(size_t, file->record, sizeof(*record));

	return !copy_to_user(buffer, record, known) &&
	       !clear_user(buffer + known, file->record - known);
}

/* Returns 1, 0 if there is no event, or -EFAULT if it cannot be copied and stays queued. */
static int anemone_copy_event(struct anemone_file *file, char __user *buffer)
{
	struct anemone_record record = {};
	struct anemone_pending_event *pending = anemone_notify_next(file, &record.event);

	if (!pending && !anemone_lost_next(file, &record))
		return 0;
	if (!anemone_copy_record(file, buffer, &record))
		return -EFAULT;
	if (pending)
		anemone_notify_done(pending, &record.event);
	else
		anemone_lost_done(file, &record);
	return 1;
}

/* Copies as many events as there are and as fit. */
static ssize_t anemone_copy_events(struct anemone_file *file, char __user *buffer, size_t bytes)
{
	ssize_t done = 0;
	int copied = 1;

	if (mutex_lock_killable(&file->lock))
		return -EINTR;
	if (bytes < file->record)
		copied = -EINVAL;
	while (copied > 0 && done + file->record <= bytes) {
		copied = anemone_copy_event(file, buffer + done);
		if (copied > 0)
			done += file->record;
	}
	mutex_unlock(&file->lock);
	return done ?: min(copied, 0);
}

static ssize_t anemone_file_read(struct file *filp, char __user *buffer, size_t bytes,
				 loff_t *position)
{
	struct anemone_file *file = filp->private_data;
	ssize_t done;
	int err;

	for (;;) {
		done = anemone_copy_events(file, buffer, bytes);
		if (done)
			return done;
		err = anemone_file_error(file);
		if (err)
			return err;
		if (filp->f_flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait_event_interruptible(file->ctl->wait, anemone_file_wakes(file));
		if (err)
			return err;
	}
}

static __poll_t anemone_file_poll(struct file *filp, poll_table *wait)
{
	struct anemone_file *file = filp->private_data;
	__poll_t mask = 0;

	poll_wait(filp, &file->ctl->wait, wait);
	if (anemone_file_readable(file))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (anemone_file_error(file))
		mask |= EPOLLERR | EPOLLHUP;
	return mask;
}

static int anemone_file_mmap(struct file *filp, struct vm_area_struct *vma)
{
	return anemone_snapshot_mmap(filp->private_data, vma);
}

const struct file_operations anemone_fops = {
	.owner = THIS_MODULE,
	.open = anemone_file_open,
	.release = anemone_file_release,
	.read = anemone_file_read,
	.poll = anemone_file_poll,
	.mmap = anemone_file_mmap,
	.unlocked_ioctl = anemone_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};
