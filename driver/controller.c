// SPDX-License-Identifier: GPL-2.0
/*
 * A controller lives from probe until its last user closes it; it is usable while its device is
 * present.
 */
#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/slab.h>

#include "controller.h"

void anemone_controller_init(struct anemone_controller *ctl, struct device *dev)
{
	kref_init(&ctl->ref);
	INIT_LIST_HEAD(&ctl->on_list);
	INIT_LIST_HEAD(&ctl->instances);
	mutex_init(&ctl->lock);
	init_waitqueue_head(&ctl->wait);
	ctl->dev = dev;
	ctl->hw.dev = dev;
}

struct anemone_controller *anemone_controller_get(struct anemone_controller *ctl)
{
	kref_get(&ctl->ref);
	return ctl;
}

static void anemone_controller_release(struct kref *ref)
{
	struct anemone_controller *ctl = container_of(ref, struct anemone_controller, ref);

	free_page((unsigned long)ctl->bounce);
	mutex_destroy(&ctl->lock);
	kfree(ctl);
}

void anemone_controller_put(struct anemone_controller *ctl)
{
	kref_put(&ctl->ref, anemone_controller_release);
}

int anemone_controller_usable(const struct anemone_controller *ctl)
{
	if (ctl->gone)
		return -ENODEV;
	if (READ_ONCE(ctl->hw.failed))
		return -EIO;
	return READ_ONCE(ctl->hw.down) ? -EBUSY : 0;
}

void anemone_controller_update_memory(struct anemone_controller *ctl)
{
	if (ctl->update_memory)
		ctl->update_memory(ctl);
}

static unsigned int anemone_flat_channels(const struct anemone_controller *ctl)
{
	return ctl->hw.shape.flat ? ctl->hw.shape.channels : 0;
}

void anemone_controller_read_flat(struct anemone_controller *ctl)
{
	unsigned int channel, r;

	for (channel = 0; channel < anemone_flat_channels(ctl); channel++) {
		u32 at = ANEMONE_FLAT(channel);

		for (r = 0; r < ANEMONE_FLAT_REGISTERS - 1; r++)
			ctl->flat[channel][r] = anemone_hw_read(&ctl->hw, at + 8 * r);
		ctl->flat[channel][r] =
			ANEMONE_GET(FLAT_STATUS_STARTED,
				    anemone_hw_read(&ctl->hw, at + ANEMONE_FLAT_STATUS));
	}
}

/* In register order, so that the start, which requests wait for, comes last. */
static void anemone_restore_flat(struct anemone_controller *ctl)
{
	unsigned int channel, r;

	for (channel = 0; channel < anemone_flat_channels(ctl); channel++)
		for (r = 0; r < ANEMONE_FLAT_REGISTERS; r++)
			anemone_hw_write(&ctl->hw, ANEMONE_FLAT(channel) + 8 * r,
					 ctl->flat[channel][r]);
}

int anemone_controller_restart(struct anemone_controller *ctl, u64 region_bytes)
{
	struct anemone_instance *instance;
	int err;

	anemone_restore_flat(ctl);
	err = anemone_hw_start(&ctl->hw, region_bytes);

	list_for_each_entry(instance, &ctl->instances, on_controller)
		if (!err)
			err = anemone_instance_restore(instance);
	return err;
}
