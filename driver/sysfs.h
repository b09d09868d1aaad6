/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ANEMONE_SYSFS_H
#define ANEMONE_SYSFS_H

#include <linux/device.h>

#include "controller.h"

/* Attributes of the PCI device: what it is, what it counted, and by channel its flat memory mode.
 */
extern const struct attribute_group *anemone_groups[];

/* The groups flat0 to flat3 (flat.c); one is there for each channel that has the mode. */
extern const struct attribute_group anemone_flat_groups[ANEMONE_CHANNELS_MAX];

struct anemone_controller *anemone_of_device(struct device *dev);
/* One register, or an error. */
int anemone_sysfs_read(struct device *dev, u32 offset, u64 *value);

#endif
