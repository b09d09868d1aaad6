// SPDX-License-Identifier: GPL-2.0
/* The character device: open, release, read, poll, mmap. */
#include <linux/eventfd.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "file.h"
#include "notify.h"
#include "rights.h"
#include "rotate.h"

static int open(struct inode *inode, struct file *filp)
{
	struct anemone_controller *ctl =
		container_of(filp->private_data, struct anemone_controller, misc);
	struct anemone_file *file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);

	if (!file)
		return -ENOMEM;
	file->ctl = anemone_controller_get(ctl);
	mutex_init(&file->lock);
	xa_init_flags(&file->telemetries, XA_FLAGS_ALLOC1);
	INIT_LIST_HEAD(&file->events);
	filp->private_data = file;
	return nonseekable_open(inode, filp);
}

void anemone_file_remove(struct anemone_file *file, struct anemone_telemetry *telemetry)
{
	xa_erase(&file->telemetries, telemetry->id);
	anemone_rotate_stop(telemetry);
	anemone_pages_remove(telemetry);
	anemone_telemetry_remove(telemetry);
}

static int release(struct inode *inode, struct file *filp)
{
	struct anemone_file *file = filp->private_data;
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
	return 0;
}

/* 0, or the end of the device; asleep it has not ended. */
static int ended(const struct anemone_file *file)
{
	if (READ_ONCE(file->ctl->gone))
		return -ENODEV;
	return READ_ONCE(file->ctl->hw.failed) ? -EIO : 0;
}

/* As many events as there are and fit; one that cannot be copied stays. */
static ssize_t copy_events(struct anemone_file *file, char __user *buffer, size_t bytes)
{
	struct anemone_waiting *waiting;
	struct anemone_event event;
	ssize_t done = 0;

	if (mutex_lock_killable(&file->lock))
		return -EINTR;
	while (done + sizeof(event) <= bytes) {
		waiting = anemone_notify_next(file, &event);
		if (!waiting)
			break;
		if (copy_to_user(buffer + done, &event, sizeof(event))) {
			done = done ?: -EFAULT;
			break;
		}
		anemone_notify_done(waiting, &event);
		done += sizeof(event);
	}
	mutex_unlock(&file->lock);
	return done;
}

static ssize_t read(struct file *filp, char __user *buffer, size_t bytes, loff_t *position)
{
	struct anemone_file *file = filp->private_data;
	ssize_t done;
	int err;

	if (bytes < sizeof(struct anemone_event))
		return -EINVAL;
	for (;;) {
		done = copy_events(file, buffer, bytes);
		if (done)
			return done;
		err = ended(file);
		if (err)
			return err;
		if (filp->f_flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait_event_interruptible(file->ctl->wait,
					       !list_empty_careful(&file->events) || ended(file));
		if (err)
			return err;
	}
}

static __poll_t poll(struct file *filp, poll_table *wait)
{
	struct anemone_file *file = filp->private_data;
	__poll_t mask = 0;

	poll_wait(filp, &file->ctl->wait, wait);
	if (!list_empty_careful(&file->events))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (ended(file))
		mask |= EPOLLERR | EPOLLHUP;
	return mask;
}

static int mmap(struct file *filp, struct vm_area_struct *vma)
{
	return anemone_snapshot_mmap(filp->private_data, vma);
}

const struct file_operations anemone_fops = {
	.owner = THIS_MODULE,
	.open = open,
	.release = release,
	.read = read,
	.poll = poll,
	.mmap = mmap,
	.unlocked_ioctl = anemone_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};
